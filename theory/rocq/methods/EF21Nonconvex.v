(* EF21, arXiv:2106.05203, for nonconvex f_i. The method is that of EF21.v. *)
From Certibit Require Export Functions Compressors Rounds Nonconvex.
From Certibit.methods Require Export EF21.

Definition nonconvex_conditions (L_f L_tilde alpha gamma : R) : Prop :=
  0 < alpha /\ 0 < gamma /\ gamma <= 1 / (L_f + L_tilde * sqrt (beta alpha / theta alpha)).
Definition descent (gamma : R) : R := gamma / 2.

Lemma theta_pos alpha : 0 < alpha -> alpha <= 1 -> 0 < theta alpha.
Proof.
  intros Ha H1. pose proof (sqrt_lt_1 (1 - alpha) 1 ltac:(lra) ltac:(lra) ltac:(lra)) as Hq.
  rewrite sqrt_1 in Hq. unfold theta. lra.
Qed.

Lemma beta_nonneg alpha : 0 < alpha -> alpha <= 1 -> 0 <= beta alpha.
Proof.
  intros Ha H1. apply Rmult_le_pos; [lra|]. left. now apply Rinv_0_lt_compat, theta_pos.
Qed.

(* The card writes L_tilde sqrt(1 - alpha)/theta. *)
Lemma card_nonconvex_step_size L_f L_tilde alpha gamma : alpha <= 1 ->
  0 < alpha /\ 0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (1 * (1 - alpha)) / (1 - sqrt (1 - alpha))) <->
  nonconvex_conditions L_f L_tilde alpha gamma.
Proof.
  intros H1.
  assert (E : 0 < alpha -> sqrt (beta alpha / theta alpha) = sqrt (1 * (1 - alpha)) / theta alpha).
  { intros Ha. pose proof (theta_pos alpha Ha H1) as Hth.
    replace (beta alpha / theta alpha) with (1 * (1 - alpha) / (theta alpha ^ 2))
      by (unfold beta; field; lra).
    rewrite sqrt_div_alt by (apply pow_lt; auto). f_equal. apply sqrt_pow2; lra. }
  unfold nonconvex_conditions. split; intros (Ha & Hg & Hs); repeat split; auto;
    revert Hs; rewrite E by auto; unfold theta, Rdiv; rewrite Rmult_assoc; auto.
Qed.

(* The lemma on the errors in EF21.v needs no limit on the step: its conditions hold for some mu, L_f, L_tilde. *)
Lemma some_conditions alpha gamma : 0 < alpha -> alpha <= 1 -> 0 < gamma ->
  EF21.conditions (theta alpha / (2 * gamma)) (/ gamma) 0 alpha gamma.
Proof.
  intros Ha H1 Hg. pose proof (theta_pos alpha Ha H1). repeat split; auto; right.
  - rewrite Rmult_0_l. field. lra.
  - field. lra.
Qed.

Section EF21.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs : R).
Context (C : (nat -> V) -> dist (nat -> V)) (b : R).
Context (L_f : R) (L : nat -> R) (L_tilde alpha gamma : R).

Definition nonconvex_Psi (s : state) : R :=
  fmean n f (x s) - fs +
  gamma / (2 * theta alpha) * (/ INR n * sum n (fun i => sq (g s i -v grad i (x s)))).
Definition squared_gradient (s : state) : R := sq (gmean n grad (x s)).
Notation step := (EF21.step n grad C b gamma).
Notation start := (EF21.start n grad C b).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : class (- L_f) L_f (fmean n f) (gmean n grad).
Hypothesis fi_class : forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i).
Hypothesis L_f_pos : 0 < L_f.
Hypothesis L_pos : forall i, (i < n)%nat -> 0 <= L i.
Hypothesis L_tilde_pos : 0 <= L_tilde.
Hypothesis L_tilde_square : L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2).
Hypothesis bounded : forall x, fs <= fmean n f x.
Hypothesis compressors : forall x i, (i < n)%nat ->
  E (C x) (fun m => sq (m i -v x i)) <= (1 - alpha) * sq (x i).
Hypothesis alpha_1 : alpha <= 1.
Hypothesis parameters : nonconvex_conditions L_f L_tilde alpha gamma.

Theorem nonconvex_one_step s : inv n s ->
  E (step s) nonconvex_Psi <= nonconvex_Psi s - descent gamma * squared_gradient s.
Proof.
  intros Hs. destruct parameters as (Ha & Hg & Hg1).
  pose proof (theta_pos alpha Ha alpha_1) as Hth. pose proof (beta_nonneg alpha Ha alpha_1) as Hbe.
  assert (Hn : 0 < / INR n) by now apply Rinv_0_lt_compat, INR_pos.
  assert (Hi := sum_le n _ _ (fun i Hi => EF21.errors n f grad C _ _ L _ alpha gamma fi_class L_pos
    compressors alpha_1 (some_conditions alpha gamma Ha alpha_1 Hg) s i Hi)).
  pose proof (inexact_step (gamma := gamma) (x s) (g_mean s) f_class) as Hf.
  fold (squared_gradient s) in Hf.
  unfold EF21.step, nonconvex_Psi, descent. set (x1 := x s -v gamma *v g_mean s) in *.
  rewrite E_dmap. cbn [x g]. rewrite E_plus, E_const, !E_scal, E_sum.
  set (G := / INR n * sum n (fun i => sq (g s i -v grad i (x s)))).
  set (r := sq (g_mean s)) in *. assert (Hr : 0 <= r) by apply sq_pos.
  assert (Hj : sq (g_mean s -v gmean n grad (x s)) <= G).
  { rewrite (same_sq _ (vmean n (fun i => g s i -v grad i (x s)))).
    - now apply jensen_mean.
    - intros z. rewrite dot_sub_l, (Hs z), dot_vmean_sub. reflexivity. }
  rewrite sum_plus, !sum_scal, sum_scal_r in Hi. apply (Rmult_le_compat_l (/ INR n)) in Hi; [|lra].
  replace (sq (gamma *v g_mean s)) with (gamma ^ 2 * r) in Hi by (unfold r; expand; ring).
  replace (/ INR n * (_ + _)) with ((1 - theta alpha) * G + beta alpha * (L_tilde ^ 2 * (gamma ^ 2 * r)))
    in Hi by (rewrite L_tilde_square; unfold G; ring).
  assert (Hw : 0 < gamma / (2 * theta alpha)) by (apply Rdiv_lt_0_compat; lra).
  apply (Rmult_le_compat_l (gamma / (2 * theta alpha))) in Hi; [|lra].
  apply (Rmult_le_compat_l (gamma / 2)) in Hj; [|lra].
  assert (Hq : 0 <= beta alpha / theta alpha).
  { apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]. }
  pose proof (largest_step _ _ _ _ L_f_pos L_tilde_pos Hq Hg Hg1) as Hcoef.
  apply (Rmult_le_compat_r (gamma / 2 * r)) in Hcoef; [|apply Rmult_le_pos; lra].
  replace ((1 - gamma * L_f - gamma ^ 2 * (L_tilde ^ 2 * (beta alpha / theta alpha))) * (gamma / 2 * r))
    with ((gamma / 2 - L_f / 2 * gamma ^ 2) * r
      - gamma / (2 * theta alpha) * (beta alpha * (L_tilde ^ 2 * (gamma ^ 2 * r)))) in Hcoef by (field; lra).
  replace (gamma / (2 * theta alpha) * ((1 - theta alpha) * G + _))
    with (gamma / (2 * theta alpha) * G - gamma / 2 * G
      + gamma / (2 * theta alpha) * (beta alpha * (L_tilde ^ 2 * (gamma ^ 2 * r)))) in Hi by (field; lra).
  lra.
Qed.

Lemma nonconvex_Psi_nonneg s : 0 <= nonconvex_Psi s.
Proof.
  destruct parameters as (Ha & Hg & _). pose proof (theta_pos alpha Ha alpha_1) as Hth.
  pose proof (bounded (x s)). unfold nonconvex_Psi.
  assert (0 < gamma / (2 * theta alpha)) by (apply Rdiv_lt_0_compat; lra).
  assert (0 <= / INR n * sum n (fun i => sq (g s i -v grad i (x s)))).
  { apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat, INR_pos|apply sum_nonneg; intros; apply sq_pos]. }
  nra.
Qed.

Theorem nonconvex_T_rounds T x0 :
  descent gamma * sum T (fun t => E (bind (start x0) (rounds step t)) squared_gradient)
    + E (bind (start x0) (rounds step T)) nonconvex_Psi <= E (start x0) nonconvex_Psi.
Proof.
  rewrite (sum_ext T _ (fun t => E (start x0) (fun s => E (rounds step t s) squared_gradient)))
    by (intros; apply E_bind).
  rewrite E_bind, <- E_sum, <- E_scal, <- E_plus.
  apply E_le_always with (P := inv n); [apply EF21.start_inv|]. intros s Hs.
  pose proof (Rounds.descent step (inv n) nonconvex_Psi squared_gradient (descent gamma) 0
    (EF21.keeps n grad C b gamma)) as Hd.
  specialize (Hd ltac:(intros u Hu; pose proof (nonconvex_one_step u Hu); lra) T s Hs). lra.
Qed.

(* Rounds, and bits per client, until the mean of E|grad f(x_t)|^2 over t < T is at most eps. *)
Theorem nonconvex_accuracy T x0 eps : 0 < eps -> (1 <= T)%nat ->
  2 * E (start x0) nonconvex_Psi / (gamma * eps) <= INR T ->
  / INR T * sum T (fun t => E (bind (start x0) (rounds step t)) squared_gradient) <= eps /\
  E (bind (start x0) (rounds step T)) sent = (INR T + 1) * b.
Proof.
  intros He HT H. split; [|apply EF21.bits]. destruct parameters as (Ha & Hg & _).
  apply (average (descent gamma) (E (start x0) nonconvex_Psi)); auto.
  - unfold descent. lra.
  - pose proof (nonconvex_T_rounds T x0).
    assert (0 <= E (bind (start x0) (rounds step T)) nonconvex_Psi); [|lra].
    apply E_nonneg. intros s. apply nonconvex_Psi_nonneg.
  - unfold descent. eapply Rle_trans; [|exact H]. right. field. lra.
Qed.
End EF21.
