(* DASHA, arXiv:2202.01268: nonconvex f_i, and the Polyak-Lojasiewicz condition. *)
From Certibit Require Export Functions Compressors Rounds Nonconvex.

Definition conditions (L_f L_tilde omega omega_av gamma a : R) : Prop :=
  0 < a /\ a * (1 + 2 * omega) <= 1 /\ 1 <= a * (1 + 2 * omega) /\ 0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (16 * omega_av * (1 + 2 * omega))).
Definition descent (gamma : R) : R := gamma / 2.

(* The Polyak-Lojasiewicz condition. *)
Definition PL_conditions (mu L_f L_tilde omega omega_av gamma a : R) : Prop :=
  0 < a /\ a <= 1 / (1 + 2 * omega) /\ 0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (4 * omega_av * (1 / a + 4 * omega))) /\ gamma <= a / (2 * mu).
Definition PL_rate (mu gamma : R) : R := 1 - gamma * mu.

Section DASHA.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs : R).
Context (C : (nat -> V) -> dist (nat -> V)) (b_full b : R).
Context (mu L_f : R) (L : nat -> R) (L_tilde omega omega_av gamma a : R).

Record state := State { x : V; g : nat -> V; g_mean : V; gradient : nat -> V; sent : R }.

Definition start (x0 : V) : state :=
  State x0 (fun i => grad i x0) (vmean n (fun i => grad i x0)) (fun i => grad i x0) (0 + b_full).

Definition step (s : state) : dist state :=
  let x1 := x s -v gamma *v g_mean s in
  dmap (fun m => State x1 (fun i => g s i +v m i) (g_mean s +v vmean n m) (fun i => grad i x1) (sent s + b))
    (C (fun i => grad i x1 -v gradient s i -v a *v (g s i -v gradient s i))).

Definition inv (s : state) : Prop :=
  gradient s = (fun i => grad i (x s)) /\ same (g_mean s) (vmean n (g s)).
Definition error (s : state) : R := sq (g_mean s -v vmean n (gradient s)).
Definition errors (s : state) : R := / INR n * sum n (fun i => sq (g s i -v gradient s i)).
Definition potential (A B : R) (s : state) : R := fmean n f (x s) - fs + A * error s + B * errors s.
Definition Psi : state -> R := potential (gamma * (1 + 2 * omega)) (2 * gamma * omega_av).
Definition PL_Psi : state -> R := potential (gamma / a) (4 * gamma * omega_av).
Definition squared_gradient (s : state) : R := sq (gmean n grad (x s)).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : class (- L_f) L_f (fmean n f) (gmean n grad).
Hypothesis fi_class : forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i).
Hypothesis L_f_pos : 0 < L_f.
Hypothesis L_pos : forall i, (i < n)%nat -> 0 <= L i.
Hypothesis L_tilde_pos : 0 <= L_tilde.
Hypothesis L_tilde_square : L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2).
Hypothesis compressors : messages n omega omega_av C.
Hypothesis omega_pos : 0 <= omega.
Hypothesis omega_av_pos : 0 <= omega_av.
Hypothesis bounded : forall x, fs <= fmean n f x.

Lemma start_inv x0 : inv (start x0).
Proof. split; [reflexivity|]. intros z. reflexivity. Qed.

Lemma keeps s : inv s -> always (step s) inv.
Proof.
  intros (_ & Hs). apply always_dmap. intros m. split; [reflexivity|]. intros z. cbn [g_mean g].
  rewrite dot_add_l, (Hs z), !dot_vmean_l, <- Rmult_plus_distr_l, <- sum_plus.
  f_equal. apply sum_ext. intros. expand. ring.
Qed.

Section OneStep.
Context (s : state) (s_inv : inv s).
Let x1 : V := x s -v gamma *v g_mean s.
Let v (i : nat) : V := grad i x1 -v gradient s i -v a *v (g s i -v gradient s i).

(* What is sent. *)
Lemma sizes : / INR n * sum n (fun i => sq (v i)) <=
  2 * a ^ 2 * errors s + 2 * (L_tilde ^ 2 * (gamma ^ 2 * sq (g_mean s))).
Proof.
  pose proof (Rinv_0_lt_compat _ (INR_pos n n_pos)) as Hn.
  assert (Hi := sum_le n (fun i => sq (v i)) (fun i => 2 * sq (grad i x1 -v grad i (x s))
    + 2 * a ^ 2 * sq (g s i -v gradient s i))).
  rewrite sum_plus, !sum_scal in Hi. apply (Rmult_le_compat_l (/ INR n)) in Hi; [|lra|].
  - pose proof (mean_lipschitz n f grad L L_tilde x1 (x s) n_pos fi_class L_pos L_tilde_square) as Hl.
    replace (sq (x1 -v x s)) with (gamma ^ 2 * sq (g_mean s)) in Hl by (unfold x1; expand; ring).
    unfold errors. lra.
  - intros i _. unfold v. eapply Rle_trans; [apply young|].
    rewrite (proj1 s_inv). right. f_equal. expand. ring.
Qed.

Lemma new_errors i : (i < n)%nat -> E (C v) (fun m => sq (g s i +v m i -v grad i x1)) <=
  (1 - a) ^ 2 * sq (g s i -v gradient s i) + omega * sq (v i).
Proof.
  intros Hi. rewrite (bias_variance _ _ (g s i +v v i)).
  - apply Rplus_le_compat; [right; unfold v; expand; ring|].
    rewrite (E_ext _ _ (fun m => sq (m i -v v i))) by (intros; expand; ring).
    now apply (var_m _ _ _ _ compressors).
  - intros z. rewrite (E_ext _ _ (fun m => dot (g s i) z + dot (m i) z)) by (intros; expand; ring).
    rewrite E_plus, E_const, (mean_m _ _ _ _ compressors) by auto. expand. ring.
Qed.

Lemma new_error : E (C v) (fun m => sq (g_mean s +v vmean n m -v vmean n (fun i => grad i x1))) <=
  (1 - a) ^ 2 * error s + omega_av * (/ INR n * sum n (fun i => sq (v i))).
Proof.
  rewrite (bias_variance _ _ (g_mean s +v vmean n v)).
  - apply Rplus_le_compat.
    + right. unfold error.
      replace ((1 - a) ^ 2 * sq (g_mean s -v vmean n (gradient s)))
        with (sq ((1 - a) *v (g_mean s -v vmean n (gradient s)))) by (expand; ring).
      apply same_sq. intros z.
      rewrite dot_sub_l, dot_add_l, dot_scal_l, dot_sub_l, (proj2 s_inv z), !dot_vmean_l.
      rewrite (sum_ext n (fun i => dot (v i) z) (fun i => dot (grad i x1) z - dot (gradient s i) z
        - a * (dot (g s i) z - dot (gradient s i) z))) by (intros; unfold v; expand; ring).
      rewrite !sum_minus, sum_scal, sum_minus. ring.
    + rewrite (E_ext _ _ (fun m => sq (vmean n m -v vmean n v))) by (intros; expand; ring).
      eapply Rle_trans; [apply compressors|]. right. unfold Rdiv. ring.
  - intros z. rewrite (E_ext _ _ (fun m => dot (g_mean s) z + dot (vmean n m) z)) by (intros; expand; ring).
    rewrite E_plus, E_const, (mean_of_messages n omega omega_av C) by auto. expand. ring.
Qed.

(* One step for any weights of the errors. *)
Lemma any_weights A B : 0 < gamma -> 0 <= A -> 0 <= B ->
  E (step s) (potential A B) <= fmean n f (x s) - fs - gamma / 2 * squared_gradient s
    - (gamma / 2 - L_f / 2 * gamma ^ 2) * sq (g_mean s)
    + (gamma / 2 + A * (1 - a) ^ 2) * error s
    + (B * (1 - a) ^ 2 + (A * omega_av + B * omega) * (2 * a ^ 2)) * errors s
    + (A * omega_av + B * omega) * 2 * (L_tilde ^ 2 * (gamma ^ 2 * sq (g_mean s))).
Proof.
  intros Hg HA HB. pose proof (Rinv_0_lt_compat _ (INR_pos n n_pos)) as Hn.
  pose proof (inexact_step (gamma := gamma) (x s) (g_mean s) f_class) as Hf.
  fold (squared_gradient s) x1 in Hf.
  replace (gmean n grad (x s)) with (vmean n (gradient s)) in Hf by (rewrite (proj1 s_inv); reflexivity).
  fold (error s) in Hf.
  assert (Hi := sum_le n _ _ new_errors). rewrite sum_plus, !sum_scal in Hi.
  apply (Rmult_le_compat_l (/ INR n)) in Hi; [|lra].
  pose proof new_error as He. pose proof sizes as Hv.
  unfold step, potential. fold x1. change (fun i => grad i x1 -v _ -v _) with v.
  rewrite E_dmap. cbn [x]. rewrite !E_plus, E_const, !E_scal. unfold error at 1, errors at 1. cbn [g g_mean gradient].
  rewrite E_scal, E_sum.
  set (U := / INR n * sum n (fun i => sq (v i))) in *.
  assert (Hi2 : / INR n * sum n (fun i => E (C v) (fun m => sq (g s i +v m i -v grad i x1))) <=
    (1 - a) ^ 2 * errors s + omega * U) by (unfold errors, U; lra).
  apply (Rmult_le_compat_l B) in Hi2; [|auto]. apply (Rmult_le_compat_l A) in He; [|auto].
  apply (Rmult_le_compat_l (A * omega_av + B * omega)) in Hv;
    [|apply Rplus_le_le_0_compat; now apply Rmult_le_pos].
  lra.
Qed.
End OneStep.

Lemma errors_nonneg s : 0 <= error s /\ 0 <= errors s.
Proof.
  split; [apply sq_pos|]. apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat, INR_pos|].
  apply sum_nonneg. intros. apply sq_pos.
Qed.

Lemma potential_bounds A B s : 0 <= A -> 0 <= B ->
  fmean n f (x s) - fs <= potential A B s /\ 0 <= potential A B s.
Proof.
  intros HA HB. destruct (errors_nonneg s) as [H1 H2]. pose proof (bounded (x s)). unfold potential.
  assert (0 <= A * error s) by now apply Rmult_le_pos.
  assert (0 <= B * errors s) by now apply Rmult_le_pos. lra.
Qed.

Lemma potential_start A B x0 : potential A B (start x0) = fmean n f x0 - fs.
Proof.
  unfold potential, error, errors, start. cbn [x g g_mean gradient].
  rewrite (sum_zero n) by (intros; expand; ring). expand. ring.
Qed.

Theorem bits T x0 : E (rounds step T (start x0)) sent = b_full + INR T * b.
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + b)).
  - rewrite E_plus, E_const, IHT. ring.
  - intros s. unfold step. rewrite E_dmap. simpl. apply E_const.
Qed.

Section Nonconvex.
Hypothesis parameters : conditions L_f L_tilde omega omega_av gamma a.

Theorem one_step s : inv s -> E (step s) Psi <= Psi s - descent gamma * squared_gradient s.
Proof.
  intros Hs. destruct parameters as (Ha & Ha1 & Ha2 & Hg & Hg1). unfold Psi, descent.
  assert (HA : 0 <= gamma * (1 + 2 * omega)) by (apply Rmult_le_pos; lra).
  assert (HB : 0 <= 2 * gamma * omega_av) by (apply Rmult_le_pos; lra).
  eapply Rle_trans; [now apply any_weights|]. unfold potential.
  destruct (errors_nonneg s) as [HE HG]. set (r := sq (g_mean s)). assert (Hr : 0 <= r) by apply sq_pos.
  assert (Hn : 0 <= 16 * omega_av * (1 + 2 * omega)) by (apply Rmult_le_pos; lra).
  pose proof (largest_step _ _ _ _ L_f_pos L_tilde_pos Hn Hg Hg1) as Hc.
  apply (Rmult_le_compat_r (gamma / 2 * r)) in Hc; [|apply Rmult_le_pos; lra].
  assert (Ho : 1 + 2 * omega = / a).
  { apply (Rmult_eq_reg_l a); [|lra]. rewrite Rinv_r by lra. lra. }
  assert (Ha3 : a <= 1) by nra.
  (* The weights of error, errors and r. *)
  assert (H1 : gamma / 2 + gamma * (1 + 2 * omega) * (1 - a) ^ 2 <= gamma * (1 + 2 * omega)).
  { rewrite Ho. replace (gamma / 2 + gamma * / a * (1 - a) ^ 2)
      with (gamma * / a + gamma * (a - 3 / 2)) by (field; lra). nra. }
  assert (H2 : 2 * gamma * omega_av * (1 - a) ^ 2 + (gamma * (1 + 2 * omega) * omega_av
    + 2 * gamma * omega_av * omega) * (2 * a ^ 2) <= 2 * gamma * omega_av).
  { replace (2 * gamma * omega_av * (1 - a) ^ 2 + (gamma * (1 + 2 * omega) * omega_av
      + 2 * gamma * omega_av * omega) * (2 * a ^ 2)) with (2 * gamma * omega_av *
      ((1 - a) ^ 2 + a * (a * (1 + 2 * omega)) + a * (2 * (a * omega)))) by ring.
    replace (a * (1 + 2 * omega)) with 1 by lra.
    replace (2 * (a * omega)) with (1 - a) by lra.
    rewrite <- (Rmult_1_r (2 * gamma * omega_av)) at 2. apply Rmult_le_compat_l; [lra|]. nra. }
  assert (H3 : (gamma * (1 + 2 * omega) * omega_av + 2 * gamma * omega_av * omega) * 2
    <= gamma / 2 * (16 * omega_av * (1 + 2 * omega))).
  { assert (0 <= gamma * omega_av * omega) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
    assert (0 <= gamma * omega_av) by (apply Rmult_le_pos; lra). lra. }
  apply (Rmult_le_compat_r (error s)) in H1; [|auto]. apply (Rmult_le_compat_r (errors s)) in H2; [|auto].
  apply (Rmult_le_compat_r (L_tilde ^ 2 * (gamma ^ 2 * r))) in H3;
    [|apply Rmult_le_pos; [apply pow2_ge_0|apply Rmult_le_pos; [apply pow2_ge_0|auto]]].
  lra.
Qed.

Theorem T_rounds T x0 :
  descent gamma * sum T (fun t => E (rounds step t (start x0)) squared_gradient)
    + E (rounds step T (start x0)) Psi <= Psi (start x0).
Proof.
  pose proof (Rounds.descent step inv Psi squared_gradient (descent gamma) 0 keeps) as Hd.
  specialize (Hd ltac:(intros s Hs; pose proof (one_step s Hs); lra) T (start x0) (start_inv x0)). lra.
Qed.

Theorem accuracy T x0 eps : 0 < eps -> (1 <= T)%nat ->
  2 * (fmean n f x0 - fs) / (gamma * eps) <= INR T ->
  / INR T * sum T (fun t => E (rounds step t (start x0)) squared_gradient) <= eps /\
  E (rounds step T (start x0)) sent = b_full + INR T * b.
Proof.
  intros He HT H. split; [|apply bits]. destruct parameters as (Ha & Ha1 & Ha2 & Hg & Hg1).
  apply (average (descent gamma) (Psi (start x0))); auto.
  - unfold descent. lra.
  - pose proof (T_rounds T x0). assert (0 <= E (rounds step T (start x0)) Psi); [|lra].
    apply E_nonneg. intros s. apply potential_bounds; apply Rmult_le_pos; lra.
  - unfold Psi, descent. rewrite potential_start. eapply Rle_trans; [|exact H]. right. field. lra.
Qed.
End Nonconvex.

Section PolyakLojasiewicz.
Hypothesis mu_pos : 0 < mu.
Hypothesis PL : forall x, 2 * mu * (fmean n f x - fs) <= sq (gmean n grad x).
Hypothesis parameters : PL_conditions mu L_f L_tilde omega omega_av gamma a.

Lemma PL_limit : gamma * mu <= a / 2 /\ a * (1 + 2 * omega) <= 1 /\ a <= 1.
Proof.
  destruct parameters as (Ha & Ha1 & Hg & Hg1 & Hg2). split.
  - apply (Rmult_le_compat_r mu) in Hg2; [|lra].
    replace (a / (2 * mu) * mu) with (a / 2) in Hg2 by (field; lra). lra.
  - apply (Rmult_le_compat_r (1 + 2 * omega)) in Ha1; [|lra].
    unfold Rdiv in Ha1. rewrite Rmult_assoc, Rinv_l in Ha1 by lra. split; nra.
Qed.

Lemma PL_rate_nonneg : 0 <= PL_rate mu gamma.
Proof. destruct PL_limit as (Hl & _ & Ha). unfold PL_rate. lra. Qed.

Theorem PL_one_step s : inv s -> E (step s) PL_Psi <= PL_rate mu gamma * PL_Psi s.
Proof.
  intros Hs. destruct parameters as (Ha & _ & Hg & Hg1 & _). destruct PL_limit as (Hl & Ha1 & Ha2).
  unfold PL_Psi, PL_rate.
  assert (Hi : 0 < / a) by now apply Rinv_0_lt_compat.
  assert (HA : 0 <= gamma / a) by (left; now apply Rdiv_lt_0_compat).
  assert (HB : 0 <= 4 * gamma * omega_av) by (apply Rmult_le_pos; lra).
  eapply Rle_trans; [now apply any_weights|]. unfold potential.
  pose proof (PL (x s)) as Hpl. fold (squared_gradient s) in Hpl.
  destruct (errors_nonneg s) as [HE HG]. set (r := sq (g_mean s)). assert (Hr : 0 <= r) by apply sq_pos.
  assert (Hn : 0 <= 4 * omega_av * (1 / a + 4 * omega))
    by (apply Rmult_le_pos; [lra|]; unfold Rdiv; lra).
  pose proof (largest_step _ _ _ _ L_f_pos L_tilde_pos Hn Hg Hg1) as Hc.
  apply (Rmult_le_compat_r (gamma / 2 * r)) in Hc; [|apply Rmult_le_pos; lra].
  assert (H1 : gamma / 2 + gamma / a * (1 - a) ^ 2 <= (1 - a / 2) * (gamma / a)).
  { replace (gamma / 2 + gamma / a * (1 - a) ^ 2) with ((1 - a / 2) * (gamma / a) - gamma * (1 - a))
      by (field; lra). nra. }
  assert (H2 : 4 * gamma * omega_av * (1 - a) ^ 2 + (gamma / a * omega_av
    + 4 * gamma * omega_av * omega) * (2 * a ^ 2) <= (1 - a / 2) * (4 * gamma * omega_av)).
  { replace (4 * gamma * omega_av * (1 - a) ^ 2 + (gamma / a * omega_av
      + 4 * gamma * omega_av * omega) * (2 * a ^ 2)) with (4 * gamma * omega_av *
      ((1 - a) ^ 2 + a / 2 + a * (2 * (a * omega)))) by (field; lra).
    rewrite (Rmult_comm (1 - a / 2)). apply Rmult_le_compat_l; [lra|]. nra. }
  apply (Rmult_le_compat_r (error s)) in H1; [|auto]. apply (Rmult_le_compat_r (errors s)) in H2; [|auto].
  assert (H4 : (gamma * mu) * (gamma / a * error s) <= a / 2 * (gamma / a * error s))
    by (apply Rmult_le_compat_r; [now apply Rmult_le_pos|auto]).
  assert (H5 : (gamma * mu) * (4 * gamma * omega_av * errors s) <= a / 2 * (4 * gamma * omega_av * errors s))
    by (apply Rmult_le_compat_r; [now apply Rmult_le_pos|auto]).
  apply (Rmult_le_compat_l (gamma / 2)) in Hpl; [|lra].
  replace ((1 - gamma * L_f - gamma ^ 2 * (L_tilde ^ 2 * (4 * omega_av * (1 / a + 4 * omega)))) * (gamma / 2 * r))
    with ((gamma / 2 - L_f / 2 * gamma ^ 2) * r
      - (gamma / a * omega_av + 4 * gamma * omega_av * omega) * 2 * (L_tilde ^ 2 * (gamma ^ 2 * r))) in Hc
    by (field; lra).
  lra.
Qed.

Theorem PL_T_rounds T x0 :
  E (rounds step T (start x0)) PL_Psi <= PL_rate mu gamma ^ T * PL_Psi (start x0).
Proof.
  apply Rounds.T_rounds with (inv := inv); auto using keeps, PL_rate_nonneg, PL_one_step, start_inv.
Qed.

Theorem PL_accuracy T x0 eps : 0 < eps -> 0 < fmean n f x0 - fs ->
  ln ((fmean n f x0 - fs) / eps) / (gamma * mu) <= INR T ->
  E (rounds step T (start x0)) (fun s => fmean n f (x s) - fs) <= eps /\
  E (rounds step T (start x0)) sent = b_full + INR T * b.
Proof.
  intros He HP HT. split; [|apply bits]. destruct parameters as (Ha & _ & Hg & Hg1 & Hg2).
  apply Rle_trans with (E (rounds step T (start x0)) PL_Psi).
  - apply E_le. intros s. apply potential_bounds; [left; now apply Rdiv_lt_0_compat|].
    apply Rmult_le_pos; lra.
  - eapply Rle_trans; [apply PL_T_rounds|]. unfold PL_Psi. rewrite potential_start.
    apply enough_rounds; auto.
    + split; [apply PL_rate_nonneg|]. unfold PL_rate.
      assert (0 < gamma * mu) by now apply Rmult_lt_0_compat. lra.
    + unfold PL_rate. now replace (1 - (1 - gamma * mu)) with (gamma * mu) by ring.
Qed.
End PolyakLojasiewicz.
End DASHA.
