(* Stochastic gradient descent: f strongly convex, convex and nonconvex; noise of bounded variance, and samples
   that are smooth in expectation. *)
From Certibit Require Export Functions Rounds Nonconvex Samples.
From Certibit.methods Require GD.

Definition conditions (mu L_f gamma : R) : Prop := 0 < gamma /\ (L_f + mu) * gamma <= 2.
Definition rate (mu gamma : R) : R := (1 - gamma * mu) ^ 2.
Definition expected_conditions (n : nat) (L_f A gamma : R) : Prop :=
  0 < gamma /\ 2 * (L_f + A / INR n) * gamma <= 1.
Definition expected_rate (mu gamma : R) : R := 1 - gamma * mu.
Definition nonconvex_conditions (L_f gamma : R) : Prop := 0 < gamma /\ L_f * gamma < 2.

Section SGD.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (xs : V) (fs b : R).
Context (D : nat -> dist (V -> V)) (mu L_f A sigma gamma : R).

Record state := State { x : V; sent : R }.
Definition start (x0 : V) : state := State x0 0.
Definition step (G : dist (nat -> V -> V)) (s : state) : dist state :=
  bind G (fun xi => ret (State (x s -v gamma *v vmean n (fun i => xi i (x s))) (sent s + b))).
Definition Psi (s : state) : R := sq (x s -v xs).
Definition gap (s : state) : R := fmean n f (x s) - fs.
Definition squared_gradient (s : state) : R := sq (gmean n grad (x s)).
Notation run := (rounds (step (samples n D))).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis fair : unbiased_samples n grad D.

Lemma always_all s : True -> always (step (samples n D) s) (fun _ => True).
Proof. intros; apply always_true. Qed.

Lemma E_step s h : E (step (samples n D) s) h =
  E (samples n D) (fun xi => h (State (x s -v gamma *v sampled n xi (x s)) (sent s + b))).
Proof. unfold step. rewrite E_bind. apply E_ext. intros. apply E_ret. Qed.

Lemma Psi_step s : E (step (samples n D) s) Psi =
  sq (x s -v gamma *v gmean n grad (x s) -v xs) + gamma ^ 2 * (/ INR n * mean_variance n grad D (x s)).
Proof. rewrite E_step. now apply sampled_step. Qed.

Lemma inverse_n : 0 < / INR n.
Proof. apply Rinv_0_lt_compat. now apply INR_pos. Qed.

Lemma noise_part c v : 0 <= c -> v <= sigma ^ 2 -> c * (/ INR n * v) <= c / INR n * sigma ^ 2.
Proof.
  intros Hc Hv. unfold Rdiv. rewrite Rmult_assoc. apply Rmult_le_compat_l; [auto|].
  apply Rmult_le_compat_l; [left; apply inverse_n|auto].
Qed.

Theorem bits T x0 : E (run T (start x0)) sent = INR T * b.
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + b)) by (intros; rewrite E_step; cbn; apply E_const).
  rewrite E_plus, E_const, IHT. ring.
Qed.

Section StronglyConvex.
Hypothesis f_class : class mu L_f (fmean n f) (gmean n grad).
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L_f.
Hypothesis minimum : forall x, fmean n f xs <= fmean n f x.

Section Bounded.
Hypothesis bounded_variance : forall x, mean_variance n grad D x <= sigma ^ 2.
Hypothesis parameters : conditions mu L_f gamma.

Theorem one_step s : E (step (samples n D) s) Psi <= rate mu gamma * Psi s + gamma ^ 2 / INR n * sigma ^ 2.
Proof.
  destruct parameters as (Hg & Hg1). rewrite Psi_step. apply Rplus_le_compat.
  - unfold Psi, rate.
    rewrite (same_sq _ (x s -v gamma *v gmean n grad (x s) -v (xs -v gamma *v gmean n grad xs))).
    + eapply Rle_trans; [apply (gradient_step f_class gamma (x s) xs mu_L); lra|].
      apply Rmult_le_compat_r; [apply sq_pos|]. apply Rmax_lub; [apply Rle_refl|].
      assert (0 <= gamma * (L_f - mu) * (2 - (L_f + mu) * gamma)) by (repeat apply Rmult_le_pos; lra). lra.
    + intros z. autorewrite with dot. rewrite (at_minimum f_class xs) by (auto; lra). ring.
  - apply noise_part; [apply pow2_ge_0|auto].
Qed.

Lemma rate_bounds : 0 <= rate mu gamma < 1.
Proof.
  destruct parameters as (Hg & Hg1). unfold rate. split; [apply pow2_ge_0|].
  assert (0 < gamma * mu) by now apply Rmult_lt_0_compat.
  assert (gamma * mu <= gamma * L_f) by (apply Rmult_le_compat_l; lra). nra.
Qed.

Theorem T_rounds T x0 : E (run T (start x0)) Psi <=
  rate mu gamma ^ T * Psi (start x0) + gamma ^ 2 / INR n * sigma ^ 2 / (1 - rate mu gamma).
Proof.
  apply noisy_T_rounds with (inv := fun _ => True); auto using always_all, rate_bounds.
  - apply Rmult_le_pos; [apply Rmult_le_pos|]; try apply pow2_ge_0. left; apply inverse_n.
  - intros s _. apply one_step.
Qed.
End Bounded.

Section Expected.
Hypothesis smooth : forall x, mean_difference n grad D x xs <= 2 * A * (fmean n f x - fmean n f xs).
Hypothesis variance_at_solution : mean_variance n grad D xs <= sigma ^ 2.
Hypothesis A_nonneg : 0 <= A.
Hypothesis parameters : expected_conditions n L_f A gamma.

Theorem expected_one_step s : E (step (samples n D) s) Psi <=
  expected_rate mu gamma * Psi s + 2 * gamma ^ 2 / INR n * sigma ^ 2.
Proof.
  destruct parameters as (Hg & Hg1). rewrite Psi_step. unfold Psi, expected_rate.
  pose proof inverse_n as Hn. set (N := / INR n) in *.
  pose proof (variance_split_at n grad D n_pos (x s) xs) as Hv. pose proof (smooth (x s)) as Hs.
  pose proof (weaken_class mu 0 L_f _ _ ltac:(lra) f_class) as Hc.
  pose proof (convex_gap L_f _ _ xs (x s) ltac:(lra) Hc) as Hb.
  pose proof (lower _ _ _ _ f_class (x s) xs) as Hl.
  set (G := gmean n grad (x s)) in *. set (P := fmean n f (x s) - fmean n f xs) in *.
  assert (Hz : forall z, dot (gmean n grad xs) z = 0) by (apply (at_minimum f_class xs); auto; lra).
  rewrite Hz in Hb. replace (sq (gmean n grad xs -v G)) with (sq G) in Hb.
  2:{ rewrite (same_sq (gmean n grad xs -v G) ((-1) *v G)); [expand; ring|].
      intros z. autorewrite with dot. rewrite Hz. ring. }
  replace (dot G (xs -v x s)) with (- dot G (x s -v xs)) in Hl by (expand; ring).
  replace (sq (xs -v x s)) with (sq (x s -v xs)) in Hl by (expand; ring).
  replace (sq (x s -v gamma *v G -v xs)) with (sq (x s -v xs) - 2 * gamma * dot G (x s -v xs) + gamma ^ 2 * sq G)
    by (expand; ring).
  assert (HP : 0 <= P) by (unfold P; pose proof (minimum (x s)); lra).
  assert (HG : sq G <= 2 * L_f * P).
  { apply (Rmult_le_compat_l (2 * L_f)) in Hb; [|lra].
    replace (2 * L_f * (fmean n f xs - fmean n f (x s) + / (2 * L_f) * sq G)) with (sq G - 2 * L_f * P) in Hb
      by (unfold P; field; lra). lra. }
  assert (HV : N * mean_variance n grad D (x s) <= N * (4 * A * P) + N * (2 * sigma ^ 2))
    by (rewrite <- Rmult_plus_distr_l; apply Rmult_le_compat_l; lra).
  apply (Rmult_le_compat_l (gamma ^ 2)) in HG; [|apply pow2_ge_0].
  apply (Rmult_le_compat_l (gamma ^ 2)) in HV; [|apply pow2_ge_0].
  assert (Hd : P + mu / 2 * sq (x s -v xs) <= dot G (x s -v xs)) by (unfold P; lra).
  apply (Rmult_le_compat_l (2 * gamma)) in Hd; [|lra].
  assert (0 <= A * N) by (apply Rmult_le_pos; lra).
  assert (HA : 0 <= 2 * gamma * P * (1 - gamma * (L_f + 2 * (A * N)))).
  { apply Rmult_le_pos; [apply Rmult_le_pos; lra|].
    replace (2 * (L_f + A / INR n) * gamma) with (gamma * (2 * L_f + 2 * (A * N))) in Hg1 by (unfold N, Rdiv; ring).
    assert (gamma * (L_f + 2 * (A * N)) <= gamma * (2 * L_f + 2 * (A * N))) by (apply Rmult_le_compat_l; lra).
    lra. }
  unfold Rdiv. fold N. lra.
Qed.

Lemma expected_rate_bounds : 0 <= expected_rate mu gamma < 1.
Proof.
  destruct parameters as (Hg & Hg1). unfold expected_rate.
  assert (0 < gamma * mu) by now apply Rmult_lt_0_compat.
  assert (gamma * mu <= gamma * L_f) by (apply Rmult_le_compat_l; lra).
  assert (0 <= A / INR n) by (apply Rmult_le_pos; [auto|left; apply inverse_n]). nra.
Qed.

Theorem expected_T_rounds T x0 : E (run T (start x0)) Psi <=
  expected_rate mu gamma ^ T * Psi (start x0) + 2 * gamma ^ 2 / INR n * sigma ^ 2 / (1 - expected_rate mu gamma).
Proof.
  apply noisy_T_rounds with (inv := fun _ => True); auto using always_all, expected_rate_bounds.
  - apply Rmult_le_pos; [apply Rmult_le_pos|]; try apply pow2_ge_0; [|left; apply inverse_n].
    pose proof (pow2_ge_0 gamma). lra.
  - intros s _. apply expected_one_step.
Qed.
End Expected.
End StronglyConvex.

Hypothesis bounded_variance : forall x, mean_variance n grad D x <= sigma ^ 2.

Section Nonconvex.
Hypothesis f_class : class (- L_f) L_f (fmean n f) (gmean n grad).
Hypothesis L_f_pos : 0 <= L_f.
Hypothesis bounded : forall x, fs <= fmean n f x.
Hypothesis parameters : nonconvex_conditions L_f gamma.

Theorem nonconvex_one_step s : E (step (samples n D) s) gap <=
  gap s - gamma * (1 - gamma * L_f / 2) * squared_gradient s + gamma ^ 2 * L_f / (2 * INR n) * sigma ^ 2.
Proof.
  destruct parameters as (Hg & Hg1). pose proof (INR_pos n n_pos) as Hn. rewrite E_step. unfold gap, squared_gradient. cbn [x].
  set (G := gmean n grad (x s)). set (v := / INR n * mean_variance n grad D (x s)).
  assert (Hv : E (samples n D) (fun xi => sq (sampled n xi (x s) -v G)) = v) by now apply sampled_variance.
  assert (Hq : E (samples n D) (fun xi => sq (sampled n xi (x s))) = sq G + v).
  { rewrite (E_ext _ _ (fun xi => sq (sampled n xi (x s) -v G) + (2 * dot (sampled n xi (x s)) G - sq G)))
      by (intros; expand; ring).
    rewrite E_plus, Hv, E_minus, E_scal, (sampled_mean n grad), E_const by auto. fold G. unfold sq. ring. }
  apply Rle_trans with (E (samples n D) (fun xi => fmean n f (x s) - fs - gamma / 2 * sq G
    - (gamma / 2 - L_f / 2 * gamma ^ 2) * sq (sampled n xi (x s)) + gamma / 2 * sq (sampled n xi (x s) -v G))).
  - apply E_le. intros xi. pose proof (inexact_step (gamma := gamma) (x s) (sampled n xi (x s)) f_class). fold G in H. lra.
  - rewrite E_plus, E_minus, E_const, !E_scal, Hv, Hq.
    assert (Hp := noise_part (gamma ^ 2 * L_f / 2) _ ltac:(apply Rmult_le_pos; [apply Rmult_le_pos; [apply pow2_ge_0|auto]|lra])
      (bounded_variance (x s))). fold v in Hp.
    replace (gamma ^ 2 * L_f / 2 / INR n) with (gamma ^ 2 * L_f / (2 * INR n)) in Hp by (field; lra). lra.
Qed.

Theorem nonconvex_T_rounds T x0 :
  gamma * (1 - gamma * L_f / 2) * sum T (fun t => E (run t (start x0)) squared_gradient)
    + E (run T (start x0)) gap <= gap (start x0) + INR T * (gamma ^ 2 * L_f / (2 * INR n) * sigma ^ 2).
Proof.
  apply (descent _ (fun _ => True) gap squared_gradient _ _ always_all); [|exact I].
  intros s _. apply nonconvex_one_step.
Qed.

Theorem nonconvex_mean T x0 (c := gamma * (1 - gamma * L_f / 2)) : (1 <= T)%nat ->
  / INR T * sum T (fun t => E (run t (start x0)) squared_gradient) <=
    gap (start x0) / (c * INR T) + gamma ^ 2 * L_f / (2 * INR n) * sigma ^ 2 / c /\
  E (run T (start x0)) sent = INR T * b.
Proof.
  intros HT. split; [|apply bits]. destruct parameters as (Hg & Hg1). apply noisy_average; auto.
  - apply Rmult_lt_0_compat; lra.
  - pose proof (nonconvex_T_rounds T x0). assert (0 <= E (run T (start x0)) gap); [|unfold c; lra].
    apply E_nonneg. intros s. unfold gap. pose proof (bounded (x s)). lra.
Qed.
End Nonconvex.

Section Convex.
Hypothesis f_class : class 0 L_f (fmean n f) (gmean n grad).
Hypothesis L_pos : 0 < L_f.
Hypothesis minimum : forall x, fmean n f xs <= fmean n f x.
Hypothesis fs_is : fs = fmean n f xs.
Hypothesis parameters : GD.convex_conditions L_f gamma.

Theorem convex_one_step s : E (step (samples n D) s) Psi <=
  Psi s - 2 * gamma * gap s + gamma ^ 2 / INR n * sigma ^ 2.
Proof.
  rewrite Psi_step. apply Rplus_le_compat; [|apply noise_part; [apply pow2_ge_0|auto]].
  pose proof (GD.convex_one_step n f grad xs fs b L_f gamma f_class L_pos minimum fs_is parameters
    (GD.State (x s) 0)) as H.
  unfold GD.step in H. rewrite E_ret in H. exact H.
Qed.

Theorem convex_T_rounds T x0 :
  2 * gamma * sum T (fun t => E (run t (start x0)) gap) + E (run T (start x0)) Psi <=
    Psi (start x0) + INR T * (gamma ^ 2 / INR n * sigma ^ 2).
Proof.
  apply (descent _ (fun _ => True) Psi gap _ _ always_all); [|exact I].
  intros s _. apply convex_one_step.
Qed.
End Convex.
End SGD.
