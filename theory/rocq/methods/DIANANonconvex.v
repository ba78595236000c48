(* DIANA for nonconvex f_i. The method is that of DIANA.v. *)
From Certibit Require Export Functions Compressors Rounds Nonconvex.
From Certibit.methods Require Export DIANA.

Definition nonconvex_conditions (L omega omega_av gamma alpha : R) : Prop :=
  0 < gamma /\ gamma <= 1 / (2 * L) /\ 0 < alpha /\ alpha <= 1 / (1 + omega) /\
  gamma * L * sqrt (omega_av * (2 + alpha)) <= alpha / 2.
Definition shift_weight (L omega_av gamma alpha : R) : R := 2 * L * gamma ^ 2 * omega_av / alpha.
Definition moved (L omega_av gamma alpha : R) : R :=
  (L / 2 + shift_weight L omega_av gamma alpha * (1 + 2 / alpha) * L ^ 2) * gamma ^ 2.
Definition nonconvex_descent (L omega_av gamma alpha : R) : R := gamma - moved L omega_av gamma alpha.

Section DIANA.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs : R).
Context (C : (nat -> V) -> dist (nat -> V)) (b L omega omega_av gamma alpha : R).

Definition nonconvex_Psi (s : @state V) : R :=
  fmean n f (x s) - fs +
  shift_weight L omega_av gamma alpha * (/ INR n * sum n (fun i => sq (h s i -v grad i (x s)))).
Definition squared_gradient (s : @state V) : R := sq (gmean n grad (x s)).
Notation step := (DIANA.step n grad C b gamma alpha).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : forall i, (i < n)%nat -> class (- L) L (f i) (grad i).
Hypothesis L_pos : 0 < L.
Hypothesis compressors : messages n omega omega_av C.
Hypothesis omega_pos : 0 <= omega.
Hypothesis omega_av_pos : 0 <= omega_av.
Hypothesis bounded : forall x, fs <= fmean n f x.
Hypothesis parameters : nonconvex_conditions L omega omega_av gamma alpha.

Let B : R := shift_weight L omega_av gamma alpha.

Lemma B_nonneg : 0 <= B.
Proof.
  destruct parameters as (Hg & _ & Ha & _). unfold B, shift_weight.
  apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat].
  apply Rmult_le_pos; [|auto]. apply Rmult_le_pos; [lra|apply pow2_ge_0].
Qed.

(* What the last condition says. *)
Lemma noise_limit : B * (1 + 2 / alpha) * L ^ 2 <= L / 2.
Proof.
  destruct parameters as (Hg & _ & Ha & _ & Hs).
  assert (Ho : 0 <= omega_av * (2 + alpha)) by (apply Rmult_le_pos; lra).
  pose proof (pow2_sqrt _ Ho) as Hq. pose proof (sqrt_pos (omega_av * (2 + alpha))) as Hq0.
  set (q := sqrt _) in *.
  assert (H : (gamma * L * q) ^ 2 <= (alpha / 2) ^ 2).
  { apply pow_incr. split; [|auto]. apply Rmult_le_pos; [apply Rmult_le_pos; lra|auto]. }
  replace ((gamma * L * q) ^ 2) with (gamma ^ 2 * L ^ 2 * (omega_av * (2 + alpha))) in H
    by (rewrite <- Hq; ring).
  replace (B * (1 + 2 / alpha) * L ^ 2)
    with (2 * L / alpha ^ 2 * (gamma ^ 2 * L ^ 2 * (omega_av * (2 + alpha))))
    by (unfold B, shift_weight; field; lra).
  replace (L / 2) with (2 * L / alpha ^ 2 * (alpha / 2) ^ 2) by (field; lra).
  apply Rmult_le_compat_l; [|exact H]. left. apply Rdiv_lt_0_compat; [lra|now apply pow_lt].
Qed.

Lemma descent_pos : gamma / 2 <= nonconvex_descent L omega_av gamma alpha.
Proof.
  destruct parameters as (Hg & Hg1 & Ha & _). pose proof noise_limit as H.
  unfold nonconvex_descent, moved. fold B.
  assert (HgL : gamma * L <= / 2).
  { apply (Rmult_le_compat_r L) in Hg1; [|lra]. replace (1 / (2 * L) * L) with (/ 2) in Hg1 by (field; lra). lra. }
  apply (Rmult_le_compat_r (gamma ^ 2)) in H; [|apply pow2_ge_0].
  assert (gamma * (gamma * L) <= gamma * / 2) by (apply Rmult_le_compat_l; lra). nra.
Qed.

Section OneStep.
Context (s : @state V) (s_inv : inv n s).
Let v (i : nat) : V := grad i (x s) -v h s i.
Let D (m : nat -> V) : V := gamma *v (h_mean s +v vmean n m).
Let H : R := / INR n * sum n (fun i => sq (h s i -v grad i (x s))).

Lemma mean_step z : E (C v) (fun m => dot (D m) z) = dot (gamma *v gmean n grad (x s)) z.
Proof.
  rewrite (E_ext _ _ (fun m => gamma * dot (h_mean s) z + gamma * dot (vmean n m) z))
    by (intros; unfold D; expand; ring).
  rewrite E_plus, E_const, E_scal, (mean_of_messages n omega omega_av C) by auto.
  unfold v, gmean. rewrite dot_vmean_sub, (s_inv z). expand. ring.
Qed.

(* E|x+ - x|^2. *)
Lemma length_of_step : E (C v) (fun m => sq (D m)) <= gamma ^ 2 * (squared_gradient s + omega_av * H).
Proof.
  rewrite (E_ext _ _ (fun m => sq (D m -v 0 *v x s))) by (intros; expand; ring).
  rewrite (bias_variance _ _ (gamma *v gmean n grad (x s)) (0 *v x s) mean_step), Rmult_plus_distr_l.
  apply Rplus_le_compat; [right; unfold squared_gradient; expand; ring|].
  rewrite (E_ext _ _ (fun m => gamma ^ 2 * sq (vmean n m -v vmean n v))).
  - rewrite E_scal. apply Rmult_le_compat_l; [apply pow2_ge_0|].
    eapply Rle_trans; [apply compressors|]. right. unfold H, Rdiv. rewrite <- Rmult_assoc. f_equal.
    apply sum_ext. intros. unfold v. expand. ring.
  - intros m. rewrite (same_sq _ (gamma *v (vmean n m -v vmean n v))); [expand; ring|].
    intros z. unfold D, v, gmean. rewrite !dot_sub_l, !dot_scal_l, dot_add_l, dot_sub_l, dot_vmean_sub, (s_inv z).
    ring.
Qed.

Lemma value_after : E (C v) (fun m => fmean n f (x s -v D m)) <= fmean n f (x s)
  - gamma * squared_gradient s + L / 2 * E (C v) (fun m => sq (D m)).
Proof.
  pose proof (mean_class n (- L) L f grad n_pos f_class) as Hf.
  apply Rle_trans with (E (C v) (fun m =>
    fmean n f (x s) - dot (D m) (gmean n grad (x s)) + L / 2 * sq (D m))).
  - apply E_le. intros m. pose proof (upper _ _ _ _ Hf (x s) (x s -v D m)) as Hu.
    replace (dot (gmean n grad (x s)) (x s -v D m -v x s)) with (- dot (D m) (gmean n grad (x s))) in Hu
      by (expand; ring).
    replace (sq (x s -v D m -v x s)) with (sq (D m)) in Hu by (expand; ring). lra.
  - rewrite E_plus, E_minus, E_const, E_scal, mean_step. unfold squared_gradient. right. expand. ring.
Qed.

Lemma shift_after i : (i < n)%nat ->
  E (C v) (fun m => sq (h s i +v alpha *v m i -v grad i (x s -v D m))) <=
  (1 - alpha / 2) * sq (h s i -v grad i (x s)) + (1 + 2 / alpha) * L ^ 2 * E (C v) (fun m => sq (D m)).
Proof.
  intros Hi. destruct parameters as (Hg & _ & Ha & Ha1 & _).
  apply Rle_trans with (E (C v) (fun m => (1 + alpha / 2) * sq (h s i +v alpha *v m i -v grad i (x s))
    + (1 + 2 / alpha) * L ^ 2 * sq (D m))).
  - apply E_le. intros m.
    pose proof (young_r (alpha / 2) (h s i +v alpha *v m i -v grad i (x s))
      (grad i (x s -v D m) -v grad i (x s)) ltac:(lra)) as Hy.
    replace (sq (h s i +v alpha *v m i -v grad i (x s) -v (grad i (x s -v D m) -v grad i (x s))))
      with (sq (h s i +v alpha *v m i -v grad i (x s -v D m))) in Hy by (expand; ring).
    replace (/ (alpha / 2)) with (2 / alpha) in Hy by (field; lra).
    pose proof (product (f_class i Hi) (x s -v D m) (x s) ltac:(lra)) as Hp.
    replace (sq (x s -v D m -v x s)) with (sq (D m)) in Hp by (expand; ring).
    assert (H1 : sq (grad i (x s -v D m) -v grad i (x s)) <= L ^ 2 * sq (D m)) by lra.
    assert (0 < 2 / alpha) by (apply Rdiv_lt_0_compat; lra).
    apply (Rmult_le_compat_l (1 + 2 / alpha)) in H1; [|lra]. lra.
  - rewrite E_plus, !E_scal. apply Rplus_le_compat_r.
    apply Rle_trans with ((1 + alpha / 2) * ((1 - alpha) * sq (h s i -v grad i (x s)))).
    + apply Rmult_le_compat_l; [lra|]. rewrite (bias_variance _ _ (h s i +v alpha *v v i)).
      * rewrite (E_ext _ _ (fun m => alpha ^ 2 * sq (m i -v v i))) by (intros; expand; ring).
        rewrite E_scal. pose proof (var_m _ _ _ _ compressors v i Hi) as Hv.
        apply (Rmult_le_compat_l (alpha ^ 2)) in Hv; [|apply pow2_ge_0].
        replace (sq (v i)) with (sq (h s i -v grad i (x s))) in Hv by (unfold v; expand; ring).
        replace (sq (h s i +v alpha *v v i -v grad i (x s)))
          with ((1 - alpha) ^ 2 * sq (h s i -v grad i (x s))) by (unfold v; expand; ring).
        apply (Rmult_le_compat_r (1 + omega)) in Ha1; [|lra].
        unfold Rdiv in Ha1. rewrite Rmult_assoc, Rinv_l in Ha1 by lra.
        assert (alpha * (alpha * (1 + omega)) <= alpha * 1) by (apply Rmult_le_compat_l; lra).
        pose proof (sq_pos (h s i -v grad i (x s))) as Hq. set (q := sq (h s i -v grad i (x s))) in *.
        assert ((alpha * (alpha * (1 + omega))) * q <= (alpha * 1) * q) by (apply Rmult_le_compat_r; auto).
        lra.
      * intros z. rewrite (E_ext _ _ (fun m => dot (h s i) z + alpha * dot (m i) z)) by (intros; expand; ring).
        rewrite E_plus, E_const, E_scal, (mean_m _ _ _ _ compressors) by auto. expand. ring.
    + rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply sq_pos|]. nra.
Qed.

Theorem nonconvex_one_step : E (step s) nonconvex_Psi <=
  nonconvex_Psi s - nonconvex_descent L omega_av gamma alpha * squared_gradient s.
Proof.
  pose proof (Rinv_0_lt_compat _ (INR_pos n n_pos)) as Hn. pose proof B_nonneg as HB.
  destruct parameters as (Hg & _ & Ha & _). pose proof value_after as Hf. pose proof length_of_step as Hl.
  assert (Hi := sum_le n _ _ shift_after). rewrite sum_plus, sum_scal, sum_const in Hi.
  apply (Rmult_le_compat_l (/ INR n)) in Hi; [|lra].
  unfold DIANA.step, nonconvex_Psi. fold B. rewrite E_dmap. cbn [x h].
  change (fun i => grad i (x s) -v h s i) with v. rewrite E_plus, E_minus, E_const, !E_scal, E_sum.
  change (fun a : nat -> V => fmean n f (x s -v gamma *v (h_mean s +v vmean n a)))
    with (fun m => fmean n f (x s -v D m)).
  set (S := squared_gradient s) in *. set (X := E (C v) (fun m => sq (D m))) in *.
  assert (Hi2 : / INR n * sum n (fun i => E (C v) (fun m =>
    sq (h s i +v alpha *v m i -v grad i (x s -v gamma *v (h_mean s +v vmean n m))))) <=
    (1 - alpha / 2) * H + (1 + 2 / alpha) * L ^ 2 * X).
  { eapply Rle_trans; [exact Hi|]. right. unfold H. pose proof (INR_pos n n_pos). field. lra. }
  fold H. apply (Rmult_le_compat_l B) in Hi2; [|auto].
  assert (H0 : 0 <= H) by (apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply sq_pos]).
  assert (Hk : 0 <= L / 2 + B * (1 + 2 / alpha) * L ^ 2).
  { assert (0 < 2 / alpha) by (apply Rdiv_lt_0_compat; lra).
    apply Rplus_le_le_0_compat; [lra|]. apply Rmult_le_pos; [|apply pow2_ge_0].
    apply Rmult_le_pos; [auto|lra]. }
  apply (Rmult_le_compat_l (L / 2 + B * (1 + 2 / alpha) * L ^ 2)) in Hl; [|auto].
  assert (Hw : (L / 2 + B * (1 + 2 / alpha) * L ^ 2) * (gamma ^ 2 * (omega_av * H)) <= B * (alpha / 2) * H).
  { replace (B * (alpha / 2) * H) with (L * (gamma ^ 2 * (omega_av * H)))
      by (unfold B, shift_weight; field; lra).
    apply Rmult_le_compat_r; [|pose proof noise_limit; lra].
    apply Rmult_le_pos; [apply pow2_ge_0|now apply Rmult_le_pos]. }
  unfold nonconvex_descent, moved. fold B. lra.
Qed.
End OneStep.

Theorem nonconvex_T_rounds T x0 : nonconvex_descent L omega_av gamma alpha
    * sum T (fun t => E (rounds step t (start x0)) squared_gradient)
  + E (rounds step T (start x0)) nonconvex_Psi <= nonconvex_Psi (start x0).
Proof.
  pose proof (Rounds.descent step (inv n) nonconvex_Psi squared_gradient
    (nonconvex_descent L omega_av gamma alpha) 0 (DIANA.keeps n grad C b gamma alpha)) as Hd.
  specialize (Hd ltac:(intros s Hs; pose proof (nonconvex_one_step s Hs); lra) T (start x0)
    (DIANA.start_inv n x0)). lra.
Qed.

Theorem nonconvex_accuracy T x0 eps : 0 < eps -> (1 <= T)%nat ->
  nonconvex_Psi (start x0) / (nonconvex_descent L omega_av gamma alpha * eps) <= INR T ->
  / INR T * sum T (fun t => E (rounds step t (start x0)) squared_gradient) <= eps /\
  E (rounds step T (start x0)) sent = INR T * b.
Proof.
  intros He HT H. split; [|apply DIANA.bits]. pose proof descent_pos. destruct parameters as (Hg & _).
  apply (average (nonconvex_descent L omega_av gamma alpha) (nonconvex_Psi (start x0))); auto.
  - lra.
  - pose proof (nonconvex_T_rounds T x0). assert (0 <= E (rounds step T (start x0)) nonconvex_Psi); [|lra].
    apply E_nonneg. intros s. pose proof (bounded (x s)). unfold nonconvex_Psi. fold B.
    assert (0 <= B * (/ INR n * sum n (fun i => sq (h s i -v grad i (x s))))); [|lra].
    apply Rmult_le_pos; [apply B_nonneg|]. apply Rmult_le_pos.
    + left. now apply Rinv_0_lt_compat, INR_pos.
    + apply sum_nonneg. intros. apply sq_pos.
Qed.
End DIANA.
