(* EF21 for strongly convex f_i with the tight rate of error feedback, for any number of clients. *)
From Certibit Require Export Functions Compressors Rounds Feedback.
From Certibit.methods Require Export EF21.

Section Tight.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V).
Context (C : (nat -> V) -> dist (nat -> V)) (b mu L alpha gamma : R).
Let s : R := sqrt (1 - alpha).

Definition tight_conditions : Prop :=
  0 < alpha /\ alpha < 1 /\ 0 < gamma /\ gamma <= best_step mu L s.
Definition tight_Psi (st : state (V := V)) : R :=
  s * sq (gmean n grad (x st)) + / INR n * sum n (fun i => sq (g st i -v grad i (x st))).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : forall i, (i < n)%nat -> class mu L (f i) (grad i).
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L.
Hypothesis compressors : forall x i, (i < n)%nat ->
  E (C x) (fun m => sq (m i -v x i)) <= (1 - alpha) * sq (x i).
Hypothesis parameters : tight_conditions.

Lemma s_bounds : 0 < s < 1 /\ s ^ 2 = 1 - alpha.
Proof.
  destruct parameters as (Ha & Ha1 & _).
  pose proof (sqrt_lt_R0 (1 - alpha) ltac:(lra)). pose proof (pow2_sqrt (1 - alpha) ltac:(lra)) as Hs.
  fold s in H, Hs. split; [|exact Hs]. split; [auto|]. nra.
Qed.

Theorem tight_one_step st : inv n st ->
  E (step n grad C b gamma st) tight_Psi <= feedback_factor mu L s gamma * tight_Psi st.
Proof.
  intros Hinv. destruct parameters as (Ha & Ha1 & Hg & Hg1). destruct s_bounds as (Hs & Hs2).
  pose proof (INR_pos n n_pos) as Hn. pose proof (Rinv_0_lt_compat _ Hn) as Hi.
  unfold step, tight_Psi. set (x1 := x st -v gamma *v g_mean st).
  rewrite E_dmap. cbn [x g]. rewrite E_plus, E_const, E_scal, E_sum.
  set (y := gmean n grad (x st)). set (e := fun i => g st i -v grad i (x st)).
  set (h := fun i => / gamma *v (grad i (x st) -v grad i x1)).
  assert (HX : same (y +v vmean n e) (g_mean st)).
  { intros z. rewrite dot_add_l. unfold e. rewrite dot_vmean_sub, (Hinv z).
    unfold y, gmean. ring. }
  assert (Hc : 0 <= / INR n * sum n (fun i =>
    dot (h i -v mu *v (y +v vmean n e)) (L *v (y +v vmean n e) -v h i))).
  { apply Rmult_le_pos; [lra|]. apply sum_nonneg. intros i Hin.
    pose proof (cocoercive (f_class i Hin) (x st) x1 mu_L) as Hco.
    assert (H1 : dot (h i -v mu *v (y +v vmean n e)) (L *v (y +v vmean n e) -v h i) =
      (L + mu) * dot (g_mean st) (h i) - sq (h i) - mu * L * sq (g_mean st)).
    { rewrite <- (same_sq _ _ HX), <- (HX (h i)). set (X := y +v vmean n e). expand. ring. }
    rewrite H1. apply (Rmult_le_reg_l (gamma ^ 2)); [apply pow_lt; auto|]. rewrite Rmult_0_r.
    eapply Rle_trans; [exact Hco|]. right.
    replace (dot _ _) with ((L + mu) * dot (x st -v x1) (grad i (x st) -v grad i x1)
      - sq (grad i (x st) -v grad i x1) - mu * L * sq (x st -v x1)) by (expand; ring).
    replace (sq (x st -v x1)) with (gamma ^ 2 * sq (g_mean st)) by (unfold x1; expand; ring).
    replace (dot (x st -v x1) _) with (gamma * dot (g_mean st) (grad i (x st) -v grad i x1))
      by (unfold x1; expand; ring).
    unfold h. set (D := grad i (x st) -v grad i x1). expand. field. lra. }
  pose proof (feedback mu L s Hs mu_pos mu_L n n_pos gamma y e h ltac:(lra) Hc) as Hf.
  assert (Hy : sq (gmean n grad x1) = sq (y -v gamma *v vmean n h)).
  { apply same_sq. intros z. rewrite dot_sub_l, dot_scal_l. unfold y, gmean.
    rewrite (dot_vmean_l n h), !dot_vmean_l.
    rewrite (sum_ext n (fun i => dot (h i) z)
      (fun i => / gamma * (dot (grad i (x st)) z - dot (grad i x1) z)))
      by (intros; unfold h; expand; ring).
    rewrite sum_scal, sum_minus. field. lra. }
  assert (He1 : forall i, (i < n)%nat ->
    E (C (fun i => grad i x1 -v g st i)) (fun c => sq (g st i +v c i -v grad i x1)) <=
    s ^ 2 * sq (e i +v gamma *v h i)).
  { intros i Hin.
    rewrite (E_ext _ _ (fun c => sq (c i -v (grad i x1 -v g st i)))) by (intros; expand; ring).
    eapply Rle_trans; [apply (compressors (fun i => grad i x1 -v g st i) i Hin)|].
    rewrite Hs2. right. f_equal. unfold e, h. expand. field. lra. }
  assert (He := sum_le n _ _ He1). cbn beta in He.
  rewrite sum_scal in He. apply (Rmult_le_compat_l (/ INR n)) in He; [|lra].
  apply (Rmult_le_compat_l s) in Hf; [|lra].
  rewrite Hy. eapply Rle_trans; [apply Rplus_le_compat_l; exact He|].
  set (Q := sum n (fun i => sq (e i))) in *.
  change (sum n (fun i => sq (g st i -v grad i (x st)))) with Q.
  replace (s * (feedback_factor mu L s gamma * (sq y + / s * (/ INR n * Q))))
    with (feedback_factor mu L s gamma * (s * sq y + / INR n * Q)) in Hf by (field; lra).
  lra.
Qed.

Lemma tight_rate_nonneg : 0 <= feedback_factor mu L s gamma.
Proof.
  destruct parameters as (Ha & Ha1 & Hg & Hg1). destruct s_bounds as (Hs & _).
  pose proof (factor_pos mu L s Hs mu_pos mu_L). pose proof (best_step_pos mu L s Hs mu_pos mu_L) as Hb.
  assert (Ht : 0 < gamma / best_step mu L s <= 1).
  { split; [now apply Rdiv_lt_0_compat|]. apply (Rmult_le_reg_r (best_step mu L s)); [auto|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  unfold feedback_factor. set (t := gamma / best_step mu L s) in *. nra.
Qed.

Theorem tight_T_rounds T x0 : E (bind (start n grad C b x0) (rounds (step n grad C b gamma) T)) tight_Psi <=
  feedback_factor mu L s gamma ^ T * E (start n grad C b x0) tight_Psi.
Proof.
  rewrite E_bind, <- E_scal. apply E_le_always with (P := inv n); [apply start_inv|].
  intros st Hst. apply Rounds.T_rounds with (inv := inv n); auto using tight_rate_nonneg, tight_one_step.
  intros; now apply keeps.
Qed.
End Tight.
