(* DIANA, arXiv:1901.09269: every f_i strongly convex (version b), a sharper theorem whose Lyapunov
   function has a weight coupled to gamma and alpha, and convex f_i. *)
From Certibit Require Export Functions Compressors Rounds.

Definition conditions (mu L omega omega_av gamma alpha : R) : Prop :=
  0 < gamma /\ gamma <= 2 / ((L + mu) * (1 + 6 * omega_av)) /\
  0 < alpha /\ alpha <= 1 / (1 + omega).
Definition rate (mu L gamma alpha : R) : R :=
  Rmax (1 - 2 * gamma * mu * L / (mu + L)) (1 - alpha / 2).

(* The coupled weight: rho < alpha, and r = 1/sqrt(1 - rho/alpha). *)
Definition rho (mu L gamma : R) : R := 2 * gamma * mu * L / (mu + L).
Definition ratio (mu L gamma alpha : R) : R := 1 / sqrt (1 - rho mu L gamma / alpha).
Definition coupled_conditions (mu L omega omega_av gamma alpha : R) : Prop :=
  rho mu L gamma < alpha /\ 0 < gamma /\
  gamma <= 2 / ((L + mu) * (1 + (1 + ratio mu L gamma alpha) ^ 2 * omega_av)) /\
  0 < alpha /\ alpha <= 1 / (1 + omega).
Definition coupled_rate (mu L gamma : R) : R := 1 - rho mu L gamma.

(* Convex f_i. *)
Definition convex_conditions (L omega omega_av gamma alpha : R) : Prop :=
  0 < gamma /\ gamma <= 1 / (L * (1 + 4 * omega_av)) /\ 0 < alpha /\ alpha <= 1 / (1 + omega).

Section DIANA.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (xs : V).
Context (C : (nat -> V) -> dist (nat -> V)) (b : R).
Context (mu L omega omega_av gamma alpha : R).

Record state := State { x : V; h : nat -> V; h_mean : V; sent : R }.

Definition step (s : state) : dist state :=
  dmap (fun m => State
      (x s -v gamma *v (h_mean s +v vmean n m))
      (fun i => h s i +v alpha *v m i)
      (h_mean s +v alpha *v vmean n m)
      (sent s + b))
    (C (fun i => grad i (x s) -v h s i)).

Definition start (x0 : V) : state := State x0 (fun _ => 0 *v x0) (0 *v x0) 0.
Definition inv (s : state) : Prop := same (h_mean s) (vmean n (h s)).
Definition potential (w : R) (s : state) : R :=
  sq (x s -v xs) + w * (/ INR n * sum n (fun i => sq (h s i -v grad i xs))).
Definition Psi : state -> R := potential (4 * omega_av / alpha * gamma ^ 2).
Definition coupled_Psi : state -> R := potential
  (omega_av * gamma ^ 2 * ((1 + / ratio mu L gamma alpha) / (alpha - rho mu L gamma))).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : forall i, (i < n)%nat -> class mu L (f i) (grad i).
Hypothesis L_pos : 0 < L.
Hypothesis mu_nonneg : 0 <= mu.
Hypothesis mu_L : mu <= L.
Hypothesis minimum : forall x, fmean n f xs <= fmean n f x.
Hypothesis compressors : messages n omega omega_av C.
Hypothesis omega_pos : 0 <= omega.
Hypothesis omega_av_pos : 0 <= omega_av.

Lemma start_inv x0 : inv (start x0).
Proof.
  intros z. cbn [h_mean h start]. rewrite dot_scal_l, dot_vmean_l, sum_zero by (intros; rewrite dot_scal_l; ring). ring.
Qed.

Lemma keeps s : inv s -> always (step s) inv.
Proof.
  intros Hs. apply always_dmap. intros m z. simpl.
  rewrite dot_add_l, (Hs z), dot_scal_l, !dot_vmean_l, <- Rmult_assoc, (Rmult_comm alpha), Rmult_assoc,
    <- Rmult_plus_distr_l, <- sum_scal, <- sum_plus.
  f_equal. apply sum_ext. intros. expand. ring.
Qed.

Lemma solution z : / INR n * sum n (fun i => dot (grad i xs) z) = 0.
Proof.
  rewrite <- dot_vmean_l. apply (at_minimum (mean_class n mu L f grad n_pos f_class)); auto; lra.
Qed.

(* E|h_i+ - grad f_i(xs)|^2 <= (1 - alpha)|H_i|^2 + alpha |G_i|^2. *)
Lemma shift s i : 0 < alpha -> alpha <= 1 / (1 + omega) -> (i < n)%nat ->
  E (C (fun i => grad i (x s) -v h s i)) (fun m => sq (h s i +v alpha *v m i -v grad i xs)) <=
  (1 - alpha) * sq (h s i -v grad i xs) + alpha * sq (grad i (x s) -v grad i xs).
Proof.
  intros Ha Ha1 Hi. set (v := fun i => grad i (x s) -v h s i).
  rewrite (bias_variance _ _ (h s i +v alpha *v v i)).
  - rewrite (E_ext _ _ (fun m => alpha ^ 2 * sq (m i -v v i))) by (intros; expand; ring).
    rewrite E_scal. pose proof (var_m _ _ _ _ compressors v i Hi) as Hv.
    apply (Rmult_le_compat_l (alpha ^ 2)) in Hv; [|apply pow2_ge_0].
    assert (Hw : alpha ^ 2 * (omega * sq (v i)) <= (alpha - alpha ^ 2) * sq (v i)).
    { rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply sq_pos|].
      apply (Rmult_le_compat_r (1 + omega)) in Ha1; [|lra].
      unfold Rdiv in Ha1. rewrite Rmult_assoc, Rinv_l in Ha1 by lra. nra. }
    apply Rle_trans with
      (sq (h s i +v alpha *v v i -v grad i xs) + (alpha - alpha ^ 2) * sq (v i)); [lra|].
    right. unfold v. expand. ring.
  - intros z. rewrite (E_ext _ _ (fun m => dot (h s i) z + alpha * dot (m i) z))
      by (intros; expand; ring).
    rewrite E_plus, E_const, E_scal, (mean_m _ _ _ _ compressors) by auto. expand. ring.
Qed.

(* E|x+ - xs|^2 <= |e|^2 - 2 gamma <mean G, e> + gamma^2 mean |G_i|^2 + gamma^2 omega_av D. *)
Lemma model s (G := fun i => grad i (x s) -v grad i xs) : inv s ->
  E (C (fun i => grad i (x s) -v h s i))
    (fun m => sq (x s -v gamma *v (h_mean s +v vmean n m) -v xs)) <=
  sq (x s -v xs) - 2 * gamma * dot (vmean n G) (x s -v xs)
  + gamma ^ 2 * (/ INR n * sum n (fun i => sq (G i)))
  + gamma ^ 2 * (omega_av / INR n * sum n (fun i => sq (grad i (x s) -v h s i))).
Proof.
  intros Hs. pose proof (INR_pos n n_pos) as Hp.
  set (v := fun i => grad i (x s) -v h s i). set (e := x s -v xs).
  rewrite (bias_variance _ _ (x s -v gamma *v (h_mean s +v vmean n v))).
  - apply Rplus_le_compat.
    + rewrite (same_sq _ (e -v gamma *v vmean n G)).
      * pose proof (jensen_mean n G n_pos) as Hj.
        replace (sq (e -v gamma *v vmean n G))
          with (sq e - 2 * gamma * dot (vmean n G) e + gamma ^ 2 * sq (vmean n G)) by (expand; ring).
        apply (Rmult_le_compat_l (gamma ^ 2)) in Hj; [|apply pow2_ge_0]. lra.
      * intros z. unfold e, v, G. rewrite !dot_sub_l, !dot_scal_l, dot_add_l, !dot_vmean_sub, (Hs z).
        rewrite (dot_vmean_l n (fun i => grad i xs)), solution. ring.
    + rewrite (E_ext _ _ (fun m => gamma ^ 2 * sq (vmean n m -v vmean n v)))
        by (intros; expand; ring).
      rewrite E_scal. apply Rmult_le_compat_l; [apply pow2_ge_0|]. apply compressors.
  - intros z. rewrite (E_ext _ _ (fun m => dot (x s) z - gamma * dot (h_mean s) z
      + (- gamma) * dot (vmean n m) z)) by (intros; expand; ring).
    rewrite E_plus, E_const, E_scal, (mean_of_messages n omega omega_av C) by auto. expand. ring.
Qed.

(* (mu L |e|^2 + mean |G_i|^2)/(mu + L) <= <mean G, e>. *)
Lemma strong s (G := fun i => grad i (x s) -v grad i xs) :
  (mu * L * sq (x s -v xs) + / INR n * sum n (fun i => sq (G i))) / (mu + L) <=
  dot (vmean n G) (x s -v xs).
Proof.
  pose proof (INR_pos n n_pos) as Hp. set (e := x s -v xs).
  apply (Rmult_le_reg_l (mu + L)); [lra|].
  replace ((mu + L) * (_ / (mu + L))) with (mu * L * sq e + / INR n * sum n (fun i => sq (G i)))
    by (field; lra).
  rewrite dot_vmean_l.
  assert (Hi := sum_le n (fun i => mu * L * sq e + sq (G i)) (fun i => (mu + L) * dot (G i) e)
    (fun i Hi => product (f_class i Hi) (x s) xs mu_L)).
  rewrite sum_plus, sum_const, sum_scal in Hi.
  apply (Rmult_le_compat_l (/ INR n)) in Hi; [|left; now apply Rinv_0_lt_compat].
  replace (mu * L * sq e) with (/ INR n * (INR n * (mu * L * sq e))) by (field; lra). lra.
Qed.

(* One step for any weight w of the shifts: G, H, D are the means of |G_i|^2, |H_i|^2, |G_i - H_i|^2. *)
Lemma any_weight w s : 0 < gamma -> 0 < alpha -> alpha <= 1 / (1 + omega) -> 0 <= w -> inv s ->
  exists G D, let H := / INR n * sum n (fun i => sq (h s i -v grad i xs)) in
  G = / INR n * sum n (fun i => sq (grad i (x s) -v grad i xs)) /\ 0 <= G /\ 0 <= H /\ (forall r, 0 < r -> D <= (1 + r) * G + (1 + / r) * H) /\
  E (step s) (potential w) <= sq (x s -v xs)
    - 2 * gamma * dot (vmean n (fun i => grad i (x s) -v grad i xs)) (x s -v xs)
    + gamma ^ 2 * G + omega_av * gamma ^ 2 * D + w * ((1 - alpha) * H + alpha * G).
Proof.
  intros Hg Ha Ha1 Hw Hs.
  assert (Hn : 0 < / INR n) by now apply Rinv_0_lt_compat, INR_pos.
  exists (/ INR n * sum n (fun i => sq (grad i (x s) -v grad i xs))).
  exists (/ INR n * sum n (fun i => sq (grad i (x s) -v h s i))). cbn zeta.
  repeat split.
  - apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply sq_pos].
  - apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply sq_pos].
  - intros r Hr. assert (Hi := sum_le n (fun i => sq (grad i (x s) -v h s i))
      (fun i => (1 + r) * sq (grad i (x s) -v grad i xs) + (1 + / r) * sq (h s i -v grad i xs))).
    rewrite sum_plus, !sum_scal in Hi. apply (Rmult_le_compat_l (/ INR n)) in Hi; [|lra|].
    + lra.
    + intros i _. eapply Rle_trans; [|apply (young_r r); auto]. right. expand. ring.
  - unfold step, potential. rewrite E_dmap. cbn [x h]. rewrite E_plus, !E_scal, E_sum.
    pose proof (model s Hs) as Hx. cbn zeta in Hx.
    assert (Hh := sum_le n _ _ (fun i Hi => shift s i Ha Ha1 Hi)).
    rewrite sum_plus, !sum_scal in Hh. apply (Rmult_le_compat_l (/ INR n)) in Hh; [|lra].
    apply (Rmult_le_compat_l w) in Hh; [|auto]. unfold Rdiv in Hx. lra.
Qed.

Lemma strong_step s G : 0 < gamma -> G = / INR n * sum n (fun i => sq (grad i (x s) -v grad i xs)) ->
  sq (x s -v xs) - 2 * gamma * dot (vmean n (fun i => grad i (x s) -v grad i xs)) (x s -v xs) <=
  (1 - rho mu L gamma) * sq (x s -v xs) - 2 * gamma / (L + mu) * G.
Proof.
  intros Hg ->. pose proof (strong s) as Hd. cbn zeta in Hd. set (S := / INR n * _) in *.
  apply (Rmult_le_compat_l (2 * gamma)) in Hd; [|lra].
  replace (2 * gamma * ((mu * L * sq (x s -v xs) + S) / (mu + L)))
    with (rho mu L gamma * sq (x s -v xs) + 2 * gamma / (L + mu) * S) in Hd by (unfold rho; field; lra).
  lra.
Qed.

Lemma weight_nonneg : 0 < alpha -> 0 <= 4 * omega_av / alpha * gamma ^ 2.
Proof.
  intros. apply Rmult_le_pos; [|apply pow2_ge_0]. apply Rmult_le_pos; [lra|].
  left. now apply Rinv_0_lt_compat.
Qed.

Lemma alpha_1 : alpha <= 1 / (1 + omega) -> 0 < alpha -> alpha <= 1.
Proof.
  intros Ha1 Ha. apply (Rmult_le_compat_r (1 + omega)) in Ha1; [|lra].
  unfold Rdiv in Ha1. rewrite Rmult_assoc, Rinv_l in Ha1 by lra. nra.
Qed.

Lemma limit (c : R) : 0 <= c -> 0 < gamma -> gamma <= 2 / ((L + mu) * (1 + c)) ->
  gamma ^ 2 * (1 + c) <= 2 * gamma / (L + mu).
Proof.
  intros Hc Hg Hg1.
  replace (2 * gamma / (L + mu)) with (gamma * (2 / ((L + mu) * (1 + c))) * (1 + c)) by (field; lra).
  replace (gamma ^ 2) with (gamma * gamma) by ring.
  apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra.
Qed.

Lemma model_in_potential w s : 0 <= w -> sq (x s -v xs) <= potential w s.
Proof.
  intros Hw. unfold potential.
  assert (0 <= / INR n * sum n (fun i => sq (h s i -v grad i xs))).
  { apply Rmult_le_pos; [|apply sum_nonneg; intros; apply sq_pos].
    left. now apply Rinv_0_lt_compat, INR_pos. }
  nra.
Qed.

Section VersionB.
Hypothesis mu_pos : 0 < mu.
Hypothesis parameters : conditions mu L omega omega_av gamma alpha.

Lemma rate_nonneg : 0 <= rate mu L gamma alpha.
Proof.
  destruct parameters as (_ & _ & Ha & Ha1). eapply Rle_trans; [|apply Rmax_r].
  pose proof (alpha_1 Ha1 Ha). lra.
Qed.

Theorem one_step s : inv s -> E (step s) Psi <= rate mu L gamma alpha * Psi s.
Proof.
  intros Hs. destruct parameters as (Hg & Hg1 & Ha & Ha1). pose proof (weight_nonneg Ha) as Hw.
  unfold Psi. set (w := 4 * omega_av / alpha * gamma ^ 2) in *.
  destruct (any_weight w s Hg Ha Ha1 Hw Hs) as (G & D & HGe & HG & HH & HD & Hone).
  pose proof (strong_step s G Hg HGe) as Hst. clear HGe.
  unfold potential at 2. set (H := / INR n * _) in *.
  specialize (HD 1 ltac:(lra)).
  assert (Hwa : w * alpha = 4 * omega_av * gamma ^ 2) by (unfold w; field; lra).
  pose proof (limit (6 * omega_av) ltac:(lra) Hg Hg1) as Hstep.
  apply (Rmult_le_compat_r G) in Hstep; [|auto].
  apply (Rmult_le_compat_l (omega_av * gamma ^ 2)) in HD;
    [|apply Rmult_le_pos; [auto|apply pow2_ge_0]].
  eapply Rle_trans; [exact Hone|].
  apply Rle_trans with ((1 - rho mu L gamma) * sq (x s -v xs) + (1 - alpha / 2) * (w * H)).
  - replace (w * ((1 - alpha) * H + alpha * G)) with (w * H - w * alpha * H + w * alpha * G) by ring.
    replace ((1 - alpha / 2) * (w * H)) with (w * H - w * alpha / 2 * H) by field.
    rewrite Hwa. lra.
  - rewrite Rmult_plus_distr_l. unfold rate. apply Rplus_le_compat; apply Rmult_le_compat_r.
    + apply sq_pos.
    + apply Rmax_l.
    + now apply Rmult_le_pos.
    + apply Rmax_r.
Qed.

Theorem T_rounds T x0 :
  E (rounds step T (start x0)) Psi <= rate mu L gamma alpha ^ T * Psi (start x0).
Proof. apply Rounds.T_rounds with (inv := inv); auto using keeps, rate_nonneg, one_step, start_inv. Qed.

Theorem bits T x0 : E (rounds step T (start x0)) sent = INR T * b.
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + b)).
  - rewrite E_plus, E_const, IHT. ring.
  - intros. unfold step. rewrite E_dmap. simpl. apply E_const.
Qed.

(* Bits per client until E|x - x*|^2 <= eps. *)
Theorem accuracy T x0 eps : 0 < eps -> 0 < Psi (start x0) ->
  ln (Psi (start x0) / eps) / (1 - rate mu L gamma alpha) <= INR T ->
  E (rounds step T (start x0)) (fun s => sq (x s -v xs)) <= eps /\
  E (rounds step T (start x0)) sent = INR T * b.
Proof.
  intros He HP HT. split; [|apply bits]. destruct parameters as (Hg & Hg1 & Ha & Ha1).
  apply Rle_trans with (E (rounds step T (start x0)) Psi).
  - apply E_le. intros s. apply model_in_potential. now apply weight_nonneg.
  - eapply Rle_trans; [apply T_rounds|]. apply enough_rounds; auto. split; [apply rate_nonneg|].
    unfold rate. apply Rmax_lub_lt; [|lra].
    assert (0 < 2 * gamma * mu * L / (mu + L)); [|lra].
    apply Rdiv_lt_0_compat; [|lra]. repeat apply Rmult_lt_0_compat; lra.
Qed.
End VersionB.

Section CoupledShifts.
Hypothesis mu_pos : 0 < mu.
Hypothesis parameters : coupled_conditions mu L omega omega_av gamma alpha.
Let r : R := ratio mu L gamma alpha.

Lemma rho_pos : 0 < rho mu L gamma.
Proof.
  destruct parameters as (_ & Hg & _). apply Rdiv_lt_0_compat; [|lra]. repeat apply Rmult_lt_0_compat; lra.
Qed.

Lemma ratio_pos : 0 < r /\ r ^ 2 * (alpha - rho mu L gamma) = alpha.
Proof.
  destruct parameters as (Hr & Hg & Hg1 & Ha & Ha1).
  assert (Hroom : 0 < 1 - rho mu L gamma / alpha).
  { replace (1 - rho mu L gamma / alpha) with ((alpha - rho mu L gamma) / alpha) by (field; lra).
    apply Rdiv_lt_0_compat; lra. }
  pose proof (sqrt_lt_R0 _ Hroom) as Hsq. split; [now apply Rdiv_lt_0_compat; [lra|]|].
  unfold r, ratio. set (q := sqrt _) in *.
  assert (Hq : q * q = 1 - rho mu L gamma / alpha) by (apply sqrt_sqrt; lra).
  replace ((1 / q) ^ 2) with (/ (q * q)) by (field; lra). rewrite Hq. field.
  split; [|lra]. lra.
Qed.

Lemma coupled_weight_nonneg :
  0 <= omega_av * gamma ^ 2 * ((1 + / r) / (alpha - rho mu L gamma)).
Proof.
  destruct parameters as (Hr & _). destruct ratio_pos as (Hrp & _).
  pose proof (Rinv_0_lt_compat _ Hrp).
  apply Rmult_le_pos; [apply Rmult_le_pos; [auto|apply pow2_ge_0]|].
  apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. lra.
Qed.

Lemma coupled_rate_nonneg : 0 <= coupled_rate mu L gamma.
Proof.
  destruct parameters as (Hr & Hg & Hg1 & Ha & Ha1). pose proof (alpha_1 Ha1 Ha).
  unfold coupled_rate. lra.
Qed.

Theorem coupled_one_step s : inv s -> E (step s) coupled_Psi <= coupled_rate mu L gamma * coupled_Psi s.
Proof.
  intros Hs. destruct parameters as (Hr & Hg & Hg1 & Ha & Ha1). destruct ratio_pos as (Hrp & Hr2).
  pose proof coupled_weight_nonneg as Hw. unfold coupled_Psi. fold r in Hg1 |- *.
  set (w := omega_av * gamma ^ 2 * _) in *. set (W := omega_av * gamma ^ 2) in *.
  destruct (any_weight w s Hg Ha Ha1 Hw Hs) as (G & D & HGe & HG & HH & HD & Hone).
  pose proof (strong_step s G Hg HGe) as Hst. clear HGe.
  fold W in Hone. unfold potential at 2. set (H := / INR n * _) in *. specialize (HD r Hrp).
  assert (HW : 0 <= W) by (apply Rmult_le_pos; [auto|apply pow2_ge_0]).
  assert (Hwr : w * (alpha - rho mu L gamma) = W * (1 + / r)) by (unfold w; field; lra).
  assert (Hwa : w * alpha = W * (r ^ 2 + r)).
  { rewrite <- Hr2 at 1. replace (w * (r ^ 2 * _)) with (r ^ 2 * (w * (alpha - rho mu L gamma))) by ring.
    rewrite Hwr. field. lra. }
  pose proof (limit ((1 + r) ^ 2 * omega_av)
    ltac:(apply Rmult_le_pos; [apply pow2_ge_0|auto]) Hg Hg1) as Hstep.
  apply (Rmult_le_compat_r G) in Hstep; [|auto]. apply (Rmult_le_compat_l W) in HD; [|auto].
  eapply Rle_trans; [exact Hone|]. unfold coupled_rate.
  replace (w * ((1 - alpha) * H + alpha * G))
    with ((1 - rho mu L gamma) * (w * H) - w * (alpha - rho mu L gamma) * H + w * alpha * G) by ring.
  rewrite Hwr, Hwa.
  replace (gamma ^ 2 * (1 + (1 + r) ^ 2 * omega_av) * G)
    with (gamma ^ 2 * G + W * (1 + r) ^ 2 * G) in Hstep by (unfold W; ring).
  lra.
Qed.

Theorem coupled_T_rounds T x0 : E (rounds step T (start x0)) coupled_Psi <=
  coupled_rate mu L gamma ^ T * coupled_Psi (start x0).
Proof.
  apply Rounds.T_rounds with (inv := inv);
    auto using keeps, coupled_rate_nonneg, coupled_one_step, start_inv.
Qed.
End CoupledShifts.

(* Convex f_i: mu > 0 is not used. *)
Section ConvexShifts.
Hypothesis parameters : convex_conditions L omega omega_av gamma alpha.
Definition convex_Psi : state -> R := potential (2 * omega_av / alpha * gamma ^ 2).
Definition value_gap (s : state) : R := fmean n f (x s) - fmean n f xs.

Lemma convex_step s : value_gap s
  + / (2 * L) * (/ INR n * sum n (fun i => sq (grad i (x s) -v grad i xs))) <=
  dot (vmean n (fun i => grad i (x s) -v grad i xs)) (x s -v xs).
Proof.
  pose proof (INR_pos n n_pos) as Hp. rewrite dot_vmean_sub, (dot_vmean_l n (fun i => grad i xs)), solution.
  rewrite dot_vmean_l. unfold value_gap, fmean.
  assert (Hi : forall i, (i < n)%nat -> f i (x s) - f i xs + / (2 * L) * sq (grad i (x s) -v grad i xs) <=
    dot (grad i (x s)) (x s -v xs)).
  { intros i Hi. apply convex_gap; auto. apply (weaken_class mu); auto. }
  assert (Hsum := sum_le n _ _ Hi). cbn beta in Hsum. rewrite sum_plus, sum_minus, sum_scal in Hsum.
  apply (Rmult_le_compat_l (/ INR n)) in Hsum; [|left; now apply Rinv_0_lt_compat]. lra.
Qed.

Theorem convex_one_step s : inv s -> E (step s) convex_Psi <= convex_Psi s - 2 * gamma * value_gap s.
Proof.
  intros Hs. destruct parameters as (Hg & Hg1 & Ha & Ha1). unfold convex_Psi.
  assert (Hw : 0 <= 2 * omega_av / alpha * gamma ^ 2).
  { apply Rmult_le_pos; [|apply pow2_ge_0]. apply Rmult_le_pos; [lra|]. left. now apply Rinv_0_lt_compat. }
  set (w := 2 * omega_av / alpha * gamma ^ 2) in *.
  destruct (any_weight w s Hg Ha Ha1 Hw Hs) as (G & D & HGe & HG & HH & HD & Hone).
  pose proof (convex_step s) as Hc. rewrite <- HGe in Hc. clear HGe. unfold potential at 2.
  set (H := / INR n * _) in *. specialize (HD 1 ltac:(lra)).
  assert (Hwa : w * alpha = 2 * omega_av * gamma ^ 2) by (unfold w; field; lra).
  assert (Hstep : gamma ^ 2 * (1 + 4 * omega_av) <= gamma / L).
  { replace (gamma / L) with (gamma * (1 / (L * (1 + 4 * omega_av))) * (1 + 4 * omega_av)) by (field; lra).
    replace (gamma ^ 2) with (gamma * gamma) by ring.
    apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra. }
  apply (Rmult_le_compat_r G) in Hstep; [|auto].
  apply (Rmult_le_compat_l (omega_av * gamma ^ 2)) in HD;
    [|apply Rmult_le_pos; [auto|apply pow2_ge_0]].
  apply (Rmult_le_compat_l (2 * gamma)) in Hc; [|lra].
  replace (2 * gamma * (value_gap s + / (2 * L) * G)) with (2 * gamma * value_gap s + gamma / L * G) in Hc
    by (field; lra).
  replace (w * ((1 - alpha) * H + alpha * G)) with (w * H - w * alpha * H + w * alpha * G) in Hone by ring.
  rewrite Hwa in Hone. lra.
Qed.

Theorem convex_T_rounds T x0 :
  2 * gamma * sum T (fun t => E (rounds step t (start x0)) value_gap) <= convex_Psi (start x0).
Proof.
  destruct parameters as (Hg & Hg1 & Ha & Ha1).
  pose proof (descent step inv convex_Psi value_gap (2 * gamma) 0 keeps) as Hd.
  specialize (Hd ltac:(intros s Hs; pose proof (convex_one_step s Hs); lra) T (start x0) (start_inv x0)).
  assert (0 <= E (rounds step T (start x0)) convex_Psi); [|lra].
  apply E_nonneg. intros s. apply Rle_trans with (sq (x s -v xs)); [apply sq_pos|].
  apply (model_in_potential _ s).
  apply Rmult_le_pos; [|apply pow2_ge_0]. apply Rmult_le_pos; [lra|]. left. now apply Rinv_0_lt_compat.
Qed.
End ConvexShifts.
End DIANA.
