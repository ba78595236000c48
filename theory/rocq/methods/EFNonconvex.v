(* EF for smooth f_i whose gradients differ by zeta. The method is that of EF.v. *)
From Certibit Require Export Functions Compressors Rounds Samples.
From Certibit.methods Require Export EF.

Definition nonconvex_conditions (L alpha gamma : R) : Prop :=
  0 < alpha /\ 0 < gamma /\
  gamma * L + (sqrt (1 - alpha) / (1 - sqrt (1 - alpha))) ^ 2 * (gamma * L) ^ 2 < 1.
Definition nonconvex_weight (L alpha gamma : R) : R := gamma * L ^ 2 / (2 * (1 - sqrt (1 - alpha))).
Definition nonconvex_descent (L alpha gamma : R) : R :=
  let s := sqrt (1 - alpha) in
  gamma / 2 * (1 - gamma * L) - nonconvex_weight L alpha gamma * gamma ^ 2 * s ^ 2 / (1 - s).
Definition dissimilarity (L alpha gamma : R) : R :=
  let s := sqrt (1 - alpha) in nonconvex_weight L alpha gamma * (gamma * s) ^ 2 / (1 - s ^ 2).

Section EF.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs : R).
Context (C : (nat -> V) -> dist (nat -> V)) (b L alpha gamma zeta : R).
Let s : R := sqrt (1 - alpha).
Let w : R := nonconvex_weight L alpha gamma.
Notation step := (EF.step n grad C b gamma).
Notation start := EF.start.

Definition virtual (st : state) : V := x st -v vmean n (e st).
Definition nonconvex_Psi (st : state) : R :=
  fmean n f (virtual st) - fs + w * (/ INR n * sum n (fun i => sq (e st i))).
Definition squared_gradient (st : state) : R := sq (gmean n grad (x st)).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : forall i, (i < n)%nat -> class (- L) L (f i) (grad i).
Hypothesis L_pos : 0 < L.
Hypothesis bounded : forall x, fs <= fmean n f x.
Hypothesis similar : forall x, / INR n * sum n (fun i => sq (grad i x -v gmean n grad x)) <= zeta ^ 2.
Hypothesis compressors : forall x i, (i < n)%nat ->
  E (C x) (fun m => sq (m i -v x i)) <= (1 - alpha) * sq (x i).
Hypothesis alpha_1 : alpha <= 1.
Hypothesis parameters : nonconvex_conditions L alpha gamma.

Lemma root : 0 <= s < 1 /\ s ^ 2 = 1 - alpha.
Proof.
  destruct parameters as (Ha & _). assert (0 <= s) by apply sqrt_pos.
  assert (Hs : s ^ 2 = 1 - alpha) by (apply pow2_sqrt; lra). split; [|exact Hs]. split; [auto|nra].
Qed.

Lemma w_pos : 0 < w.
Proof.
  destruct root as (Hs & _). destruct parameters as (_ & Hg & _).
  apply Rdiv_lt_0_compat; [|fold s; lra]. apply Rmult_lt_0_compat; [auto|]. apply pow_lt. auto.
Qed.

(* Of the means, and of the deviations from them. *)
Lemma means (a c : V) : s ^ 2 * sq (a +v c) <= s * sq a + s ^ 2 / (1 - s) * sq c.
Proof.
  destruct root as (Hs & _). pose proof (sq_pos ((1 - s) *v a -v s *v c)) as H.
  assert (0 <= s / (1 - s)) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  apply (Rmult_le_compat_l (s / (1 - s))) in H; [|auto]. rewrite Rmult_0_r in H.
  apply Rle_trans with (s ^ 2 * sq (a +v c) + s / (1 - s) * sq ((1 - s) *v a -v s *v c)); [lra|].
  right. expand. field. lra.
Qed.
Lemma deviations (a c : V) : s ^ 2 * sq (a +v c) <= sq a + s ^ 2 / (1 - s ^ 2) * sq c.
Proof.
  destruct root as (Hs & Hs2). destruct parameters as (Ha & _).
  assert (Hp : 0 < 1 - s ^ 2) by lra. pose proof (sq_pos ((1 - s ^ 2) *v a -v s ^ 2 *v c)) as H.
  apply (Rmult_le_compat_l (/ (1 - s ^ 2))) in H; [|left; now apply Rinv_0_lt_compat]. rewrite Rmult_0_r in H.
  apply Rle_trans with (s ^ 2 * sq (a +v c) + / (1 - s ^ 2) * sq ((1 - s ^ 2) *v a -v s ^ 2 *v c)); [lra|].
  right. clear Hs2. expand. field. lra.
Qed.

(* The mean of s^2 |e_i + gamma grad f_i(x)|^2. *)
Lemma errors_left st (G := gmean n grad (x st)) (em := vmean n (e st)) :
  s ^ 2 * (/ INR n * sum n (fun i => sq (e st i +v gamma *v grad i (x st)))) <=
  / INR n * sum n (fun i => sq (e st i)) - (1 - s) * sq em
    + s ^ 2 / (1 - s) * (gamma ^ 2 * sq G) + s ^ 2 / (1 - s ^ 2) * (gamma ^ 2 * zeta ^ 2).
Proof.
  destruct root as (Hs & Hs2). destruct parameters as (Ha & _).
  pose proof (Rinv_0_lt_compat _ (INR_pos n n_pos)) as Hn.
  assert (Hm : same (vmean n (fun i => e st i +v gamma *v grad i (x st))) (em +v gamma *v G)).
  { intros z. unfold G, gmean, em. rewrite dot_add_l, dot_scal_l, !dot_vmean_l.
    rewrite (sum_ext n (fun i => dot (e st i +v gamma *v grad i (x st)) z)
      (fun i => dot (e st i) z + gamma * dot (grad i (x st)) z)) by (intros; autorewrite with dot; ring).
    rewrite sum_plus, sum_scal. ring. }
  rewrite (variance_split n (fun i => e st i +v gamma *v grad i (x st)) n_pos), (same_sq _ _ Hm).
  rewrite (variance_split n (e st) n_pos). fold em.
  pose proof (means em (gamma *v G)) as H1. replace (sq (gamma *v G)) with (gamma ^ 2 * sq G) in H1 by (expand; ring).
  assert (H2 : s ^ 2 * (/ INR n * sum n (fun i => sq (e st i +v gamma *v grad i (x st)
      -v vmean n (fun i => e st i +v gamma *v grad i (x st))))) <=
    / INR n * sum n (fun i => sq (e st i -v em)) + s ^ 2 / (1 - s ^ 2) * (gamma ^ 2 * zeta ^ 2)).
  { assert (Hi : sum n (fun i => s ^ 2 * sq (e st i +v gamma *v grad i (x st)
        -v vmean n (fun i => e st i +v gamma *v grad i (x st)))) <=
      sum n (fun i => sq (e st i -v em) + s ^ 2 / (1 - s ^ 2) * gamma ^ 2 * sq (grad i (x st) -v G))).
    { apply sum_le. intros i _. rewrite (same_sq_sub_r _ _ _ Hm).
      pose proof (deviations (e st i -v em) (gamma *v (grad i (x st) -v G))) as Hd.
      replace (sq (gamma *v (grad i (x st) -v G))) with (gamma ^ 2 * sq (grad i (x st) -v G)) in Hd by (expand; ring).
      rewrite <- Rmult_assoc in Hd. eapply Rle_trans; [|exact Hd]. right. f_equal. apply same_sq.
      intros z. autorewrite with dot. ring. }
    rewrite sum_plus, !sum_scal in Hi. apply (Rmult_le_compat_l (/ INR n)) in Hi; [|lra].
    pose proof (similar (x st)) as Hz. fold G in Hz.
    apply (Rmult_le_compat_l (s ^ 2 / (1 - s ^ 2) * gamma ^ 2)) in Hz; [lra|].
    apply Rmult_le_pos; [|apply pow2_ge_0]. apply Rmult_le_pos; [apply pow2_ge_0|].
    left. apply Rinv_0_lt_compat. lra. }
  lra.
Qed.

Theorem nonconvex_one_step st : E (step st) nonconvex_Psi <=
  nonconvex_Psi st - nonconvex_descent L alpha gamma * squared_gradient st + dissimilarity L alpha gamma * zeta ^ 2.
Proof.
  destruct root as (Hs & Hs2). destruct parameters as (Ha & Hg & _). pose proof w_pos as Hw.
  pose proof (Rinv_0_lt_compat _ (INR_pos n n_pos)) as Hn.
  pose proof (mean_class n (- L) L f grad n_pos f_class) as Hc.
  unfold EF.step, nonconvex_Psi, squared_gradient. rewrite E_dmap. cbn [x e].
  set (G := gmean n grad (x st)). set (em := vmean n (e st)). set (y := virtual st).
  assert (Hv : forall m, same (virtual (State (x st -v vmean n m)
      (fun i => e st i +v gamma *v grad i (x st) -v m i) (sent st + b))) (y -v gamma *v G)).
  { intros m z. unfold virtual, y, virtual, G, gmean. cbn [x e]. rewrite !dot_sub_l, dot_scal_l, !dot_vmean_l.
    rewrite (sum_ext n (fun i => dot (e st i +v gamma *v grad i (x st) -v m i) z)
      (fun i => dot (e st i) z + gamma * dot (grad i (x st)) z - dot (m i) z)) by (intros; autorewrite with dot; ring).
    rewrite sum_minus, sum_plus, sum_scal. ring. }
  set (F := fmean n f) in *.
  assert (Hy : sq (gmean n grad y -v G) <= L ^ 2 * sq em).
  { pose proof (product Hc y (x st) ltac:(lra)) as Hp. fold G in Hp.
    replace (sq (y -v x st)) with (sq em) in Hp by (unfold y, virtual, em; expand; ring). lra. }
  apply Rle_trans with (E (C (fun i => e st i +v gamma *v grad i (x st))) (fun m =>
    F y - fs - gamma / 2 * (1 - gamma * L) * sq G + gamma * L ^ 2 / 2 * sq em
      + w * (/ INR n * sum n (fun i => sq (m i -v (e st i +v gamma *v grad i (x st))))))).
  - apply E_le. intros m. apply Rplus_le_compat.
    + set (yp := virtual _). pose proof (upper _ _ _ _ Hc y yp) as Hu. fold F in Hu.
      rewrite (same_sq_sub yp (y -v gamma *v G) y (Hv m)) in Hu.
      assert (Hd : dot (gmean n grad y) (yp -v y) = - gamma * dot (gmean n grad y) G).
      { rewrite dot_sub_r, (dot_sym _ yp). unfold yp. rewrite (Hv m), (dot_sym _ (gmean n grad y)). autorewrite with dot. ring. }
      rewrite Hd in Hu.
      replace (sq (y -v gamma *v G -v y)) with (gamma ^ 2 * sq G) in Hu by (expand; ring).
      replace (sq (gmean n grad y -v G)) with (sq (gmean n grad y) - 2 * dot (gmean n grad y) G + sq G) in Hy
        by (expand; ring).
      apply (Rmult_le_compat_l (gamma / 2)) in Hy; [|lra].
      assert (0 <= gamma / 2 * sq (gmean n grad y)) by (apply Rmult_le_pos; [lra|apply sq_pos]). lra.
    + right. do 2 f_equal. apply sum_ext. intros i _. expand. ring.
  - rewrite E_plus, E_const, !E_scal, E_sum.
    assert (He : sum n (fun i => E (C (fun j => e st j +v gamma *v grad j (x st)))
        (fun m => sq (m i -v (e st i +v gamma *v grad i (x st))))) <=
      s ^ 2 * sum n (fun i => sq (e st i +v gamma *v grad i (x st)))).
    { rewrite <- sum_scal. apply sum_le. intros i Hi. rewrite Hs2.
      apply (compressors (fun j => e st j +v gamma *v grad j (x st)) i Hi). }
    apply (Rmult_le_compat_l (/ INR n)) in He; [|lra].
    pose proof (errors_left st) as Hl. cbn zeta in Hl. fold G em in Hl.
    assert (Hb := Rle_trans _ _ (/ INR n * sum n (fun i => sq (e st i)) - (1 - s) * sq em
      + s ^ 2 / (1 - s) * (gamma ^ 2 * sq G) + s ^ 2 / (1 - s ^ 2) * (gamma ^ 2 * zeta ^ 2)) He ltac:(lra)).
    apply (Rmult_le_compat_l w) in Hb; [|lra].
    assert (Hwe : w * (1 - s) = gamma * L ^ 2 / 2) by (unfold w, nonconvex_weight; fold s; field; lra).
    unfold nonconvex_descent, dissimilarity. fold s w.
    replace (w * (gamma * s) ^ 2 / (1 - s ^ 2) * zeta ^ 2) with (w * (s ^ 2 / (1 - s ^ 2) * (gamma ^ 2 * zeta ^ 2)))
      by (field; lra).
    replace (w * gamma ^ 2 * s ^ 2 / (1 - s)) with (w * (s ^ 2 / (1 - s) * gamma ^ 2)) by (field; lra).
    apply (f_equal (fun k => k * sq em)) in Hwe. lra.
Qed.

Lemma always_all st : True -> always (step st) (fun _ => True).
Proof. intros; apply always_true. Qed.

Theorem nonconvex_T_rounds T x0 :
  nonconvex_descent L alpha gamma * sum T (fun t => E (rounds step t (start x0)) squared_gradient)
    + E (rounds step T (start x0)) nonconvex_Psi <=
  nonconvex_Psi (start x0) + INR T * (dissimilarity L alpha gamma * zeta ^ 2).
Proof.
  apply (descent _ (fun _ => True) nonconvex_Psi squared_gradient _ _ always_all); [|exact I].
  intros st _. apply nonconvex_one_step.
Qed.

Theorem nonconvex_bits T x0 : E (rounds step T (start x0)) sent = INR T * b.
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + b)); [rewrite E_plus, E_const, IHT; ring|].
  intros. unfold EF.step. rewrite E_dmap. cbn. apply E_const.
Qed.

Theorem nonconvex_mean T x0 (c := nonconvex_descent L alpha gamma) : (1 <= T)%nat ->
  / INR T * sum T (fun t => E (rounds step t (start x0)) squared_gradient) <=
    nonconvex_Psi (start x0) / (c * INR T) + dissimilarity L alpha gamma * zeta ^ 2 / c /\
  E (rounds step T (start x0)) sent = INR T * b.
Proof.
  intros HT. split; [|apply nonconvex_bits]. destruct parameters as (Ha & Hg & Hl). destruct root as (Hs & _).
  apply noisy_average; auto.
  - unfold c, nonconvex_descent, nonconvex_weight. fold s in Hl |- *.
    replace (gamma / 2 * (1 - gamma * L) - gamma * L ^ 2 / (2 * (1 - s)) * gamma ^ 2 * s ^ 2 / (1 - s))
      with (gamma / 2 * (1 - (gamma * L + (s / (1 - s)) ^ 2 * (gamma * L) ^ 2))) by (field; lra).
    apply Rmult_lt_0_compat; lra.
  - pose proof (nonconvex_T_rounds T x0). pose proof w_pos as Hw.
    assert (0 <= E (rounds step T (start x0)) nonconvex_Psi); [|unfold c; lra].
    apply E_nonneg. intros st. unfold nonconvex_Psi. pose proof (bounded (virtual st)).
    assert (0 <= / INR n * sum n (fun i => sq (e st i))).
    { apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat, INR_pos|apply sum_nonneg; intros; apply sq_pos]. }
    assert (0 <= w * (/ INR n * sum n (fun i => sq (e st i)))) by (apply Rmult_le_pos; lra). lra.
Qed.
End EF.
