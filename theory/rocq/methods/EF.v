(* EF for strongly convex f_i that are least at one point, with the tight rate of error feedback. *)
From Certibit Require Export Feedback Functions Compressors Rounds.

Definition conditions (mu L alpha gamma : R) : Prop :=
  0 < alpha /\ alpha < 1 /\ 0 < gamma /\ gamma <= best_step mu L (sqrt (1 - alpha)).

Section EF.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (xs : V).
Context (C : (nat -> V) -> dist (nat -> V)) (b mu L alpha gamma : R).
Let s : R := sqrt (1 - alpha).

Record state := State { x : V; e : nat -> V; sent : R }.
Definition start (x0 : V) : state := State x0 (fun _ => 0 *v x0) 0.
Definition step (st : state) : dist state :=
  dmap (fun m => State (x st -v vmean n m) (fun i => e st i +v gamma *v grad i (x st) -v m i) (sent st + b))
    (C (fun i => e st i +v gamma *v grad i (x st))).
Definition Psi (st : state) : R :=
  sq (x st -v xs -v vmean n (e st)) + / s * (/ INR n * sum n (fun i => sq (e st i))).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : forall i, (i < n)%nat -> class mu L (f i) (grad i).
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L.
Hypothesis minimum : forall i, (i < n)%nat -> forall x, f i xs <= f i x.
Hypothesis compressors : forall x i, (i < n)%nat ->
  E (C x) (fun m => sq (m i -v x i)) <= (1 - alpha) * sq (x i).
Hypothesis parameters : conditions mu L alpha gamma.

Lemma s_bounds : 0 < s < 1 /\ s ^ 2 = 1 - alpha.
Proof.
  destruct parameters as (Ha & Ha1 & _).
  pose proof (sqrt_lt_R0 (1 - alpha) ltac:(lra)). pose proof (pow2_sqrt (1 - alpha) ltac:(lra)) as Hs.
  fold s in H, Hs. split; [|exact Hs]. split; [auto|]. nra.
Qed.

Theorem one_step st : E (step st) Psi <= feedback_factor mu L s gamma * Psi st.
Proof.
  destruct parameters as (Ha & Ha1 & Hg & Hg1). destruct s_bounds as (Hs & Hs2).
  pose proof (INR_pos n n_pos) as Hn. pose proof (Rinv_0_lt_compat _ Hn) as Hi.
  set (g := fun i => grad i (x st)). set (y := x st -v xs -v vmean n (e st)).
  assert (HX : same (y +v vmean n (e st)) (x st -v xs))
    by (intros z; unfold y; autorewrite with dot; ring).
  assert (Hc : 0 <= / INR n * sum n (fun i =>
    dot (g i -v mu *v (y +v vmean n (e st))) (L *v (y +v vmean n (e st)) -v g i))).
  { apply Rmult_le_pos; [lra|]. apply sum_nonneg. intros i Hin.
    pose proof (cocoercive (f_class i Hin) (x st) xs mu_L) as Hco.
    pose proof (at_minimum (f_class i Hin) xs ltac:(lra) (minimum i Hin)) as Hz.
    eapply Rle_trans; [exact Hco|]. right.
    rewrite (same_dot _ (g i -v mu *v (y +v vmean n (e st))) _ (L *v (y +v vmean n (e st)) -v g i)).
    - reflexivity.
    - intros z. rewrite !dot_sub_l, !dot_scal_l, Hz, HX, dot_sub_l. unfold g. ring.
    - intros z. rewrite !dot_sub_l, !dot_scal_l, Hz, HX, !dot_sub_l. unfold g. ring. }
  pose proof (feedback mu L s Hs mu_pos mu_L n n_pos gamma y (e st) g ltac:(split; [lra|exact Hg1]) Hc) as Hf.
  unfold step, Psi. rewrite E_dmap. cbn [x e].
  rewrite (E_ext _ _ (fun m => sq (y -v gamma *v vmean n g) + / s * (/ INR n * sum n (fun i =>
    sq (m i -v (e st i +v gamma *v g i)))))).
  2:{ intros m. f_equal.
    - apply same_sq. intros z. unfold y. rewrite !dot_sub_l, dot_scal_l, !dot_vmean_l.
      rewrite (sum_ext n (fun i => dot (e st i +v gamma *v grad i (x st) -v m i) z)
        (fun i => dot (e st i) z + gamma * dot (g i) z - dot (m i) z)) by (intros; unfold g; expand; ring).
      rewrite sum_minus, sum_plus, sum_scal. ring.
    - do 2 f_equal. apply sum_ext. intros i _. unfold g. expand. ring. }
  rewrite E_plus, E_const, E_scal, E_scal, E_sum. fold y.
  assert (He := sum_le n _ _ (fun i Hin => compressors (fun i => e st i +v gamma *v g i) i Hin)).
  cbn beta in He. rewrite sum_scal, <- Hs2 in He.
  apply (Rmult_le_compat_l (/ INR n)) in He; [|lra].
  apply (Rmult_le_compat_l (/ s)) in He; [|left; apply Rinv_0_lt_compat; lra].
  eapply Rle_trans; [apply Rplus_le_compat_l; exact He|]. eapply Rle_trans; [|exact Hf].
  right. f_equal. field. lra.
Qed.

Lemma rate_bounds : 0 <= feedback_factor mu L s gamma < 1.
Proof.
  destruct parameters as (Ha & Ha1 & Hg & Hg1). destruct s_bounds as (Hs & _).
  apply factor_bounds; auto.
Qed.

Theorem T_rounds T x0 :
  E (rounds step T (start x0)) Psi <= feedback_factor mu L s gamma ^ T * Psi (start x0).
Proof.
  apply Rounds.T_rounds with (inv := fun _ => True); auto using one_step.
  - intros; apply always_true.
  - apply rate_bounds.
Qed.

Theorem bits T x0 : E (rounds step T (start x0)) sent = INR T * b.
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + b)).
  - rewrite E_plus, E_const, IHT. ring.
  - intros. unfold step. rewrite E_dmap. simpl. apply E_const.
Qed.

Theorem accuracy T x0 eps : 0 < eps -> 0 < Psi (start x0) ->
  ln (Psi (start x0) / eps) / (1 - feedback_factor mu L s gamma) <= INR T ->
  E (rounds step T (start x0)) Psi <= eps /\ E (rounds step T (start x0)) sent = INR T * b.
Proof.
  intros He HP HT. split; [|apply bits]. eapply Rle_trans; [apply T_rounds|].
  apply enough_rounds; auto using rate_bounds.
Qed.
End EF.
