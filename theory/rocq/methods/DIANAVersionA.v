(* DIANA, arXiv:1905.11261 (version a): f is strongly convex, the f_i are convex. The method is that of DIANA.v. *)
From Certibit Require Export Functions Compressors Rounds.
From Certibit.methods Require Export DIANA.

Definition a_conditions (L_f L omega omega_av gamma alpha : R) : Prop :=
  0 < gamma /\ gamma <= 1 / (L_f + 6 * omega_av * L) /\ 0 < alpha /\ alpha <= 1 / (1 + omega).
Definition a_rate (mu gamma alpha : R) : R := Rmax (1 - gamma * mu) (1 - alpha / 2).

(* |grad f(x)|^2 <= 2 L (f(x) - f(xs)). *)
Lemma gradient_gap {V : space} mu L (f : V -> R) grad x xs : 0 < L -> class mu L f grad ->
  (forall x, f xs <= f x) -> sq (grad x) <= 2 * L * (f x - f xs).
Proof.
  intros HL H Hm. pose proof (upper _ _ _ _ H x (x -v / L *v grad x)) as Hu.
  specialize (Hm (x -v / L *v grad x)).
  assert (Hd : f xs <= f x - / (2 * L) * sq (grad x)).
  { eapply Rle_trans; [exact Hm|]. eapply Rle_trans; [exact Hu|]. right. expand. field. lra. }
  apply (Rmult_le_compat_l (2 * L)) in Hd; [|lra].
  replace (2 * L * (f x - / (2 * L) * sq (grad x))) with (2 * L * f x - sq (grad x)) in Hd by (field; lra).
  lra.
Qed.

Section VersionA.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (xs : V).
Context (C : (nat -> V) -> dist (nat -> V)) (b : R).
Context (mu L_f L omega omega_av gamma alpha : R).

Notation step := (DIANA.step n grad C b gamma alpha).
Notation Psi := (DIANA.Psi n grad xs omega_av gamma alpha).
Notation inv := (DIANA.inv n).
Notation gap_of s := (fmean n f (x s) - fmean n f xs).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis fi_class : forall i, (i < n)%nat -> class 0 L (f i) (grad i).
Hypothesis f_class : class mu L_f (fmean n f) (gmean n grad).
Hypothesis mu_pos : 0 < mu.
Hypothesis L_f_pos : 0 < L_f.
Hypothesis L_pos : 0 < L.
Hypothesis minimum : forall x, fmean n f xs <= fmean n f x.
Hypothesis compressors : messages n omega omega_av C.
Hypothesis omega_pos : 0 <= omega.
Hypothesis omega_av_pos : 0 <= omega_av.
Hypothesis parameters : a_conditions L_f L omega omega_av gamma alpha.

(* E|x+ - xs|^2 <= |e|^2 - 2 gamma <grad f(x), e> + gamma^2 |grad f(x)|^2 + gamma^2 omega_av D. *)
Lemma a_model s : inv s ->
  E (C (fun i => grad i (x s) -v h s i))
    (fun m => sq (x s -v gamma *v (h_mean s +v vmean n m) -v xs)) <=
  sq (x s -v xs) - 2 * gamma * dot (gmean n grad (x s)) (x s -v xs)
  + gamma ^ 2 * sq (gmean n grad (x s))
  + gamma ^ 2 * (omega_av / INR n * sum n (fun i => sq (grad i (x s) -v h s i))).
Proof.
  intros Hs. set (v := fun i => grad i (x s) -v h s i). set (e := x s -v xs). set (F := gmean n grad (x s)).
  rewrite (bias_variance _ _ (x s -v gamma *v (h_mean s +v vmean n v))).
  - apply Rplus_le_compat.
    + right. rewrite (same_sq _ (e -v gamma *v F)); [expand; ring|].
      intros z. unfold e, v, F, gmean. rewrite !dot_sub_l, !dot_scal_l, dot_add_l, !dot_vmean_sub, (Hs z). ring.
    + rewrite (E_ext _ _ (fun m => gamma ^ 2 * sq (vmean n m -v vmean n v))) by (intros; expand; ring).
      rewrite E_scal. apply Rmult_le_compat_l; [apply pow2_ge_0|]. apply compressors.
  - intros z. rewrite (E_ext _ _ (fun m => dot (x s) z - gamma * dot (h_mean s) z
      + (- gamma) * dot (vmean n m) z)) by (intros; expand; ring).
    rewrite E_plus, E_const, E_scal, (mean_of_messages n omega omega_av C) by auto. expand. ring.
Qed.

(* mean |grad f_i(x) - grad f_i(xs)|^2 <= 2 L (f(x) - f(xs)). *)
Lemma a_gradients s :
  / INR n * sum n (fun i => sq (grad i (x s) -v grad i xs)) <= 2 * L * gap_of s.
Proof.
  assert (Hn : 0 < / INR n) by now apply Rinv_0_lt_compat, INR_pos.
  assert (Hi := sum_le n _ _ (fun i Hi => convex_gap L (f i) (grad i) xs (x s) L_pos (fi_class i Hi))).
  rewrite sum_plus, sum_minus, sum_scal in Hi. apply (Rmult_le_compat_l (/ INR n)) in Hi; [|lra].
  rewrite (DIANA.solution n f grad xs 0 L n_pos fi_class L_pos minimum) in Hi.
  rewrite (sum_ext n (fun i => sq (grad i (x s) -v grad i xs)) (fun i => sq (grad i xs -v grad i (x s))))
    by (intros; expand; ring).
  unfold fmean. set (A := sum n (fun i => sq (grad i xs -v grad i (x s)))) in *.
  apply (Rmult_le_compat_l (2 * L)) in Hi; [|lra].
  replace (2 * L * (/ INR n * (sum n (fun i => f i xs) - sum n (fun i => f i (x s)) + / (2 * L) * A)))
    with (2 * L * (/ INR n * sum n (fun i => f i xs) - / INR n * sum n (fun i => f i (x s))) + / INR n * A)
    in Hi by (field; split; [lra|]; pose proof (INR_pos n n_pos); lra).
  lra.
Qed.

Lemma a_rate_nonneg : 0 <= a_rate mu gamma alpha.
Proof.
  destruct parameters as (_ & _ & Ha & Ha1). pose proof (DIANA.alpha_1 omega alpha omega_pos Ha1 Ha).
  eapply Rle_trans; [|apply Rmax_r]. lra.
Qed.

Theorem a_one_step s : inv s -> E (step s) Psi <= a_rate mu gamma alpha * Psi s.
Proof.
  intros Hs. destruct parameters as (Hg & Hg1 & Ha & Ha1).
  pose proof (DIANA.weight_nonneg omega_av gamma alpha omega_av_pos Ha) as Hw.
  assert (Hn : 0 < / INR n) by now apply Rinv_0_lt_compat, INR_pos.
  pose proof (a_model s Hs) as Hx. pose proof (a_gradients s) as HG.
  pose proof (gradient_gap mu L_f _ _ (x s) xs L_f_pos f_class minimum) as HF.
  assert (Hsc : gap_of s + mu / 2 * sq (x s -v xs) <= dot (gmean n grad (x s)) (x s -v xs)).
  { pose proof (lower _ _ _ _ f_class (x s) xs) as Hl.
    replace (sq (xs -v x s)) with (sq (x s -v xs)) in Hl by (expand; ring).
    revert Hl. rewrite !dot_sub_r. lra. }
  assert (Hv : 0 <= gap_of s) by (pose proof (minimum (x s)); lra).
  assert (Hh := sum_le n _ _ (fun i Hi => DIANA.shift n grad xs C omega omega_av alpha compressors omega_pos
    s i Ha Ha1 Hi)).
  rewrite sum_plus, !sum_scal in Hh. apply (Rmult_le_compat_l (/ INR n)) in Hh; [|lra].
  assert (HD : / INR n * sum n (fun i => sq (grad i (x s) -v h s i)) <=
    2 * (/ INR n * sum n (fun i => sq (grad i (x s) -v grad i xs)))
    + 2 * (/ INR n * sum n (fun i => sq (h s i -v grad i xs)))).
  { assert (Hi := sum_le n (fun i => sq (grad i (x s) -v h s i))
      (fun i => 2 * sq (grad i (x s) -v grad i xs) + 2 * sq (h s i -v grad i xs))).
    rewrite sum_plus, !sum_scal in Hi. apply (Rmult_le_compat_l (/ INR n)) in Hi; [lra|lra|].
    intros i _. eapply Rle_trans; [|apply young]. right. expand. ring. }
  unfold DIANA.step, DIANA.Psi, DIANA.potential. rewrite E_dmap. cbn [x h]. rewrite E_plus, !E_scal, E_sum.
  set (w := 4 * omega_av / alpha * gamma ^ 2) in *.
  apply (Rmult_le_compat_l w) in Hh; [|auto].
  replace (omega_av / INR n * sum n (fun i => sq (grad i (x s) -v h s i)))
    with (omega_av * (/ INR n * sum n (fun i => sq (grad i (x s) -v h s i)))) in Hx
    by (unfold Rdiv; ring).
  set (D := / INR n * sum n (fun i => sq (grad i (x s) -v h s i))) in *.
  set (A := sum n (fun i => sq (grad i (x s) -v grad i xs))) in *.
  set (B := sum n (fun i => sq (h s i -v grad i xs))) in *.
  set (K := sum n (fun i => E _ _)) in *. set (M := E _ _) in *.
  set (d := dot _ _) in *. set (e := sq (x s -v xs)) in *. set (F := sq (gmean n grad (x s))) in *.
  set (v := gap_of s) in *.
  assert (He : 0 <= e) by apply sq_pos.
  assert (HB : 0 <= / INR n * B) by (apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply sq_pos]).
  clearbody D A B K M d e F v.
  assert (Hwa : w * alpha = 4 * omega_av * gamma ^ 2) by (unfold w; field; lra).
  assert (Hstep : gamma ^ 2 * (L_f + 6 * omega_av * L) <= gamma).
  { assert (Hp : 0 < L_f + 6 * omega_av * L).
    { assert (0 <= omega_av * L) by (apply Rmult_le_pos; lra). lra. }
    set (P := L_f + 6 * omega_av * L) in *. clearbody P.
    apply (Rmult_le_compat_r P) in Hg1; [|lra].
    unfold Rdiv in Hg1. rewrite Rmult_assoc, Rinv_l in Hg1 by lra.
    apply (Rmult_le_compat_l gamma) in Hg1; [|lra]. lra. }
  apply (Rmult_le_compat_r v) in Hstep; [|auto].
  assert (Hg2 : 0 <= gamma ^ 2) by apply pow2_ge_0.
  assert (Hog : 0 <= omega_av * gamma ^ 2) by (now apply Rmult_le_pos).
  apply (Rmult_le_compat_l (omega_av * gamma ^ 2)) in HD; [|auto].
  apply (Rmult_le_compat_l (omega_av * gamma ^ 2)) in HG; [|auto].
  apply (Rmult_le_compat_l (gamma ^ 2)) in HF; [|auto].
  apply (Rmult_le_compat_l (2 * gamma)) in Hsc; [|lra].
  apply Rle_trans with ((1 - gamma * mu) * e + (1 - alpha / 2) * (w * (/ INR n * B))).
  - replace (w * (/ INR n * ((1 - alpha) * B + alpha * A)))
      with (w * (/ INR n * B) - w * alpha * (/ INR n * B) + w * alpha * (/ INR n * A)) in Hh by ring.
    replace ((1 - alpha / 2) * (w * (/ INR n * B)))
      with (w * (/ INR n * B) - w * alpha / 2 * (/ INR n * B)) by (unfold Rdiv; ring).
    rewrite Hwa in *. clearbody w. lra.
  - rewrite Rmult_plus_distr_l. unfold a_rate. apply Rplus_le_compat; apply Rmult_le_compat_r.
    + auto.
    + apply Rmax_l.
    + now apply Rmult_le_pos.
    + apply Rmax_r.
Qed.

Theorem a_T_rounds T x0 :
  E (rounds step T (start x0)) Psi <= a_rate mu gamma alpha ^ T * Psi (start x0).
Proof.
  apply Rounds.T_rounds with (inv := inv).
  - apply DIANA.keeps.
  - apply a_rate_nonneg.
  - exact a_one_step.
  - apply DIANA.start_inv.
Qed.

(* Bits per client until E|x - x*|^2 <= eps. *)
Theorem a_accuracy T x0 eps : 0 < eps -> 0 < Psi (start x0) ->
  ln (Psi (start x0) / eps) / (1 - a_rate mu gamma alpha) <= INR T ->
  E (rounds step T (start x0)) (fun s => sq (x s -v xs)) <= eps /\
  E (rounds step T (start x0)) sent = INR T * b.
Proof.
  intros He HP HT. split; [|apply DIANA.bits]. destruct parameters as (Hg & Hg1 & Ha & Ha1).
  apply Rle_trans with (E (rounds step T (start x0)) Psi).
  - apply E_le. intros s. apply DIANA.model_in_potential; auto. now apply DIANA.weight_nonneg.
  - eapply Rle_trans; [apply a_T_rounds|]. apply enough_rounds; auto. split; [apply a_rate_nonneg|].
    unfold a_rate. apply Rmax_lub_lt; [|lra]. assert (0 < gamma * mu) by now apply Rmult_lt_0_compat. lra.
Qed.
End VersionA.
