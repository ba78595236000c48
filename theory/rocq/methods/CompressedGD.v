(* Compressed gradient descent of one client: gradient descent with relative error, arXiv:1709.05191. *)
From Certibit Require Export Functions Compressors Rounds.

Definition root (alpha : R) : R := sqrt (1 - alpha).
Definition low (mu alpha : R) : R := (1 - root alpha) * mu.
Definition high (L alpha : R) : R := (1 + root alpha) * L.
Definition conditions (n : nat) (mu L alpha gamma : R) : Prop :=
  INR n <= 1 /\ 0 < alpha /\ 0 < gamma /\ gamma <= 2 / (low mu alpha + high L alpha).
Definition rate (mu L alpha gamma : R) : R :=
  1 - gamma * (low mu alpha + high L alpha) / 2
    * (1 - ((high L alpha - low mu alpha) / (high L alpha + low mu alpha)) ^ 2).

(* The algebra at the largest step: X = x - x*, g = grad f(x), e = c - g, g1 = grad f(x+). *)
Section Algebra.
Context {V : space} (mu L q : R).
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L.
Hypothesis q_bounds : 0 <= q < 1.
Let D : R := (1 - q) * mu + (1 + q) * L.
Let ratio : R := ((1 + q) * L - (1 - q) * mu) / D.
Let N : R := (1 + q) * L - (1 - q) * mu.

Lemma D_pos : 0 < D.
Proof. unfold D. assert (0 <= (1 - q) * mu) by (apply Rmult_le_pos; lra). nra. Qed.
Lemma N_nonneg : 0 <= N.
Proof. unfold N. nra. Qed.
Lemma ratio_bounds : 0 <= ratio < 1.
Proof.
  pose proof D_pos as HD. pose proof N_nonneg as HN. split.
  - apply Rmult_le_pos; [exact HN|]. left. now apply Rinv_0_lt_compat.
  - apply (Rmult_lt_reg_r D); auto. unfold ratio, Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    unfold D. nra.
Qed.

Section Vectors.
Context (X g e g1 : V) (F0 F1 : R).
Let move : V := (2 / D) *v (g +v e).
Let X1 : V := X -v move.
Let below01 : R := F1 + dot g1 move + mu / 2 * sq move + / (2 * (L - mu)) * sq (g -v g1 -v mu *v move).
Let below0 : R := F0 - dot g X + mu / 2 * sq X + / (2 * (L - mu)) * sq (g -v mu *v X).
Let below1 : R := F1 - dot g1 X1 + mu / 2 * sq X1 + / (2 * (L - mu)) * sq (g1 -v mu *v X1).

Hypothesis strict : mu < L.
Hypothesis H01 : below01 <= F0.
Hypothesis H0 : below0 <= 0.
Hypothesis H1 : below1 <= 0.

Let first : V := X -v ((L + mu) / (2 * L * mu)) *v g -v / (L * (1 + q)) *v e
  -v (D / (2 * L * mu * (1 + q))) *v g1.
Let first_weight : R := 2 * L ^ 2 * mu ^ 2 * (1 - q) * (1 + q) / ((L - mu) * D ^ 2).

Lemma first_nonneg : 0 <= first_weight * sq first.
Proof.
  pose proof D_pos. apply Rmult_le_pos; [|apply sq_pos]. unfold first_weight.
  apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; [lra|now apply pow_lt]].
  repeat apply Rmult_le_pos; try lra; apply pow_le; lra.
Qed.

Lemma combined : 0 <= ratio * (F0 - below01) + ratio * (1 - ratio) * (0 - below0) + (1 - ratio) * (0 - below1).
Proof.
  destruct ratio_bounds. assert (0 <= ratio * (1 - ratio)) by (apply Rmult_le_pos; lra).
  apply Rplus_le_le_0_compat; [apply Rplus_le_le_0_compat|]; apply Rmult_le_pos; lra.
Qed.

Lemma noisy : 0 < q -> F1 <= ratio ^ 2 * F0 + ratio / (q * D) * (sq e - q ^ 2 * sq g).
Proof.
  intros Hq. pose proof D_pos as HD. pose proof first_nonneg as Hf. pose proof combined as Hc.
  set (second := N *v e +v (q * D) *v g1).
  assert (Hs : 0 <= / (q * (L - mu) * (1 + q) * D ^ 2) * sq second).
  { apply Rmult_le_pos; [|apply sq_pos]. left. apply Rinv_0_lt_compat.
    apply Rmult_lt_0_compat; [|now apply pow_lt].
    apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; lra. }
  assert (Hid : ratio ^ 2 * F0 + ratio / (q * D) * (sq e - q ^ 2 * sq g) - F1 =
    ratio * (F0 - below01) + ratio * (1 - ratio) * (0 - below0) + (1 - ratio) * (0 - below1)
    + first_weight * sq first + / (q * (L - mu) * (1 + q) * D ^ 2) * sq second); [|lra].
  clear Hs Hc Hf H01 H0 H1.
  unfold below01, below0, below1, first, second, X1, move, first_weight. expand.
  set (c0 := dot X X). set (c1 := dot X g). set (c2 := dot X e). set (c3 := dot X g1).
  unfold ratio, N, D in *. field. repeat split; lra.
Qed.

Lemma exact : q = 0 -> sq e = 0 -> F1 <= ratio ^ 2 * F0.
Proof.
  intros Hq He. pose proof D_pos as HD. pose proof first_nonneg as Hf. pose proof combined as Hc.
  assert (Hn := null_dot e He).
  assert (Hid : ratio ^ 2 * F0 - F1 =
    ratio * (F0 - below01) + ratio * (1 - ratio) * (0 - below0) + (1 - ratio) * (0 - below1)
    + first_weight * sq first); [|lra].
  clear Hc Hf H01 H0 H1.
  unfold below01, below0, below1, first, X1, move, first_weight. unfold sq. autorewrite with dot.
  rewrite !(dot_sym _ e), !Hn. one_order.
  unfold ratio, N, D in *. rewrite Hq in *. field. repeat split; lra.
Qed.
End Vectors.
End Algebra.

(* A nonnegative function of mean zero vanishes at every outcome of positive probability. *)
Lemma E_null {A} (d : dist A) (h f g : A -> R) : (forall a, 0 <= h a) -> E d h <= 0 ->
  (forall a, h a = 0 -> f a <= g a) -> E d f <= E d g.
Proof.
  unfold E. destruct d as [l Hw Ht]; simpl. clear Ht. intros Hh H0 H.
  induction l as [|[p a] l IH]; simpl in *; [lra|].
  inversion Hw as [|? ? Hp Hl]; subst; simpl in Hp.
  assert (Hr : 0 <= wsum l h).
  { clear - Hh Hl. induction Hl as [|[r a] l Hr Hl IH]; simpl in *; [lra|].
    apply Rplus_le_le_0_compat; auto. now apply Rmult_le_pos. }
  pose proof (Hh a) as Ha. assert (Hpa : 0 <= p * h a) by now apply Rmult_le_pos.
  assert (Hz : p * h a = 0) by lra. apply Rplus_le_compat.
  - apply Rmult_integral in Hz. destruct Hz as [->|Hz]; [lra|]. apply Rmult_le_compat_l; auto.
  - apply IH; auto. lra.
Qed.

(* One step along an estimate c of the gradient with E|c - grad f(x)|^2 <= (1 - alpha) |grad f(x)|^2. *)
Section Estimate.
Context {V : space} (f : V -> R) (grad : V -> V) (xs : V) (estimate : V -> dist V).
Context (mu L alpha gamma : R).

Hypothesis f_class : class mu L f grad.
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L.
Hypothesis minimum : forall x, f xs <= f x.
Hypothesis accurate : forall x,
  E (estimate x) (fun c => sq (c -v grad x)) <= (1 - alpha) * sq (grad x).
Hypothesis alpha_pos : 0 < alpha.
Hypothesis alpha_1 : alpha <= 1.
Hypothesis gamma_pos : 0 < gamma.
Hypothesis gamma_small : gamma <= 2 / (low mu alpha + high L alpha).

Let q : R := root alpha.
Let D : R := (1 - q) * mu + (1 + q) * L.
Let ratio : R := ((1 + q) * L - (1 - q) * mu) / D.

Lemma q_square : q ^ 2 = 1 - alpha.
Proof. unfold q, root. apply pow2_sqrt. lra. Qed.
Lemma q_bounds : 0 <= q < 1.
Proof.
  pose proof q_square. assert (0 <= q) by apply sqrt_pos. split; nra.
Qed.

Section Strict.
Hypothesis strict : mu < L.

(* The interpolation inequality, and at the minimum. *)
Lemma interpolation y z : f y + dot (grad y) (z -v y) + mu / 2 * sq (z -v y)
  + / (2 * (L - mu)) * sq (grad z -v grad y -v mu *v (z -v y)) <= f z.
Proof.
  pose proof (gap f_class y z (/ (L - mu))) as H. cbn zeta in H.
  replace (/ (L - mu) - (L - mu) / 2 * (/ (L - mu)) ^ 2) with (/ (2 * (L - mu))) in H by (field; lra).
  exact H.
Qed.

Lemma interpolation_star y : f y - f xs - dot (grad y) (y -v xs) + mu / 2 * sq (y -v xs)
  + / (2 * (L - mu)) * sq (grad y -v mu *v (y -v xs)) <= 0.
Proof.
  pose proof (interpolation y xs) as H.
  rewrite (same_sq (grad xs -v grad y -v mu *v (xs -v y)) ((-1) *v (grad y -v mu *v (y -v xs)))) in H.
  - replace (sq ((-1) *v (grad y -v mu *v (y -v xs)))) with (sq (grad y -v mu *v (y -v xs))) in H
      by (expand; ring).
    replace (sq (xs -v y)) with (sq (y -v xs)) in H by (expand; ring).
    replace (dot (grad y) (xs -v y)) with (- dot (grad y) (y -v xs)) in H by (rewrite !dot_sub_r; ring).
    lra.
  - intros z. autorewrite with dot. rewrite (at_minimum f_class xs) by (auto; lra). ring.
Qed.

(* One step of the largest size, for one message c. *)
Lemma largest y c : (0 < q \/ (q = 0 /\ sq (c -v grad y) = 0)) ->
  f (y -v (2 / D) *v c) - f xs <= ratio ^ 2 * (f y - f xs)
    + ratio / (q * D) * (sq (c -v grad y) - q ^ 2 * sq (grad y)) \/
  q = 0 /\ f (y -v (2 / D) *v c) - f xs <= ratio ^ 2 * (f y - f xs).
Proof.
  intros Hc. set (y1 := y -v (2 / D) *v c).
  assert (H01 := interpolation y1 y).
  assert (H0 := interpolation_star y). assert (H1 := interpolation_star y1).
  set (X := y -v xs) in *. set (e := c -v grad y) in *.
  assert (Hm : same (y -v y1) ((2 / D) *v (grad y +v e))).
  { intros z. unfold y1, e. autorewrite with dot. ring. }
  assert (HX : same (y1 -v xs) (X -v (2 / D) *v (grad y +v e))).
  { intros z. unfold y1, e, X. autorewrite with dot. ring. }
  rewrite (same_sq _ _ Hm), (dot_sym _ (y -v y1)), (Hm (grad y1)), (dot_sym _ (grad y1)) in H01.
  rewrite (same_sq _ _ HX), (dot_sym _ (y1 -v xs)), (HX (grad y1)), (dot_sym _ (grad y1)) in H1.
  rewrite (same_sq (grad y -v grad y1 -v mu *v (y -v y1))
    (grad y -v grad y1 -v mu *v ((2 / D) *v (grad y +v e)))) in H01
    by (intros z; rewrite !(dot_sub_l _ (mu *v _)), !dot_scal_l, Hm, dot_scal_l; reflexivity).
  rewrite (same_sq (grad y1 -v mu *v (y1 -v xs))
    (grad y1 -v mu *v (X -v (2 / D) *v (grad y +v e)))) in H1
    by (intros z; rewrite !(dot_sub_l _ (mu *v _)), !(dot_scal_l mu), HX; reflexivity).
  destruct Hc as [Hq|[Hq He]]; [left|right; split; auto].
  - apply (noisy mu L q mu_pos mu_L q_bounds X (grad y) e (grad y1) (f y - f xs) (f y1 - f xs));
      auto; fold D; lra.
  - apply (exact mu L q mu_pos mu_L q_bounds X (grad y) e (grad y1) (f y - f xs) (f y1 - f xs));
      auto; fold D; lra.
Qed.
End Strict.

(* If mu = L, f(y) - f(xs) is L/2 |y - xs|^2, and the step ends at xs - e/L. *)
Lemma equal y c : mu = L ->
  f (y -v (2 / D) *v c) - f xs <= / (2 * L) * sq (c -v grad y) /\
  ratio ^ 2 * (f y - f xs) = / (2 * L) * (q ^ 2 * sq (grad y)).
Proof.
  intros Heq. pose proof (at_minimum f_class xs ltac:(lra) minimum) as Hz.
  assert (Hf : forall z, f z - f xs = L / 2 * sq (z -v xs)).
  { intros z. pose proof (lower _ _ _ _ f_class xs z) as Hl. pose proof (upper _ _ _ _ f_class xs z) as Hu.
    rewrite Hz in Hl, Hu. rewrite Heq in Hl. lra. }
  assert (Hg : same (grad y) (L *v (y -v xs))).
  { intros z. assert (Hw : sq (grad y -v grad xs -v L *v (y -v xs)) = 0).
    { apply Rle_antisym; [|apply sq_pos]. pose proof (gap f_class xs y 1) as H. cbn zeta in H.
      rewrite Hz, Heq in H. pose proof (Hf y). lra. }
    pose proof (null_dot _ Hw z) as H. revert H. rewrite !dot_sub_l, Hz. intros. lra. }
  assert (HD : D = 2 * L) by (unfold D; rewrite Heq; ring).
  split.
  - rewrite Hf, HD. right.
    rewrite (same_sq (y -v (2 / (2 * L)) *v c -v xs) ((- / L) *v (c -v grad y))).
    + replace (sq ((- / L) *v (c -v grad y))) with (/ L * / L * sq (c -v grad y)) by (expand; ring).
      field. lra.
    + intros z. rewrite dot_scal_l, (dot_sub_l c), Hg. autorewrite with dot. field. lra.
  - rewrite Hf, (same_sq _ _ Hg). replace ratio with q by (unfold ratio; rewrite HD, Heq; field; lra).
    replace (sq (L *v (y -v xs))) with (L * L * sq (y -v xs)) by (expand; ring). field. lra.
Qed.

(* f(y - gamma c) is convex in gamma. *)
Lemma shorter y c t : 0 <= t <= 1 ->
  f (y -v (t * (2 / D)) *v c) <= (1 - t) * f y + t * f (y -v (2 / D) *v c).
Proof.
  intros Ht. set (z := y -v (t * (2 / D)) *v c). set (y1 := y -v (2 / D) *v c).
  pose proof (lower _ _ _ _ f_class z y) as Hy. pose proof (lower _ _ _ _ f_class z y1) as H1.
  pose proof (sq_pos (y -v z)) as P. pose proof (sq_pos (y1 -v z)) as P1.
  assert (Hd : (1 - t) * dot (grad z) (y -v z) + t * dot (grad z) (y1 -v z) = 0).
  { set (w := grad z). unfold z, y1. autorewrite with dot. ring. }
  apply Rle_trans with ((1 - t) * (f z + dot (grad z) (y -v z)) + t * (f z + dot (grad z) (y1 -v z))); [lra|].
  apply Rplus_le_compat; apply Rmult_le_compat_l; nra.
Qed.

Lemma expected_largest y :
  E (estimate y) (fun c => f (y -v (2 / D) *v c)) <= f xs + ratio ^ 2 * (f y - f xs).
Proof.
  pose proof q_bounds as Hq. pose proof (accurate y) as HC.
  rewrite <- q_square in HC.
  destruct (Rle_lt_or_eq_dec _ _ mu_L) as [Hs|Hs].
  2: { apply Rle_trans with (E (estimate y) (fun c => f xs + / (2 * L) * sq (c -v grad y))).
    - apply E_le. intros c. destruct (equal y c Hs) as [H _]. lra.
    - destruct (equal y (grad y) Hs) as [_ H]. rewrite H, E_plus, E_const, E_scal.
      apply Rplus_le_compat_l, Rmult_le_compat_l; auto. left. apply Rinv_0_lt_compat. lra. }
  destruct (Rle_lt_or_eq_dec _ _ (proj1 Hq)) as [Hq0|Hq0].
  - apply Rle_trans with (E (estimate y) (fun c => f xs + ratio ^ 2 * (f y - f xs)
      + ratio / (q * D) * (sq (c -v grad y) - q ^ 2 * sq (grad y)))).
    + apply E_le. intros c. destruct (largest Hs y c (or_introl Hq0)) as [H|[H _]]; lra.
    + rewrite E_plus, E_const, E_scal, E_minus, E_const.
      assert (0 <= ratio / (q * D)).
      { pose proof (ratio_bounds mu L q mu_pos mu_L q_bounds) as [HR _]. fold D in HR.
        pose proof (D_pos mu L q mu_pos mu_L q_bounds) as HD. fold D in HD.
        apply Rmult_le_pos; [exact HR|]. left. now apply Rinv_0_lt_compat, Rmult_lt_0_compat. }
      nra.
  - rewrite <- (E_const (estimate y) (f xs + ratio ^ 2 * (f y - f xs))).
    apply (E_null _ (fun c => sq (c -v grad y))).
    + intros. apply sq_pos.
    + rewrite <- Hq0 in HC. lra.
    + intros c He. pose proof (largest Hs y c (or_intror (conj (eq_sym Hq0) He))) as [H|[_ H]]; [|lra].
      rewrite <- Hq0, He in H. unfold Rdiv in H. lra.
Qed.

Let t : R := gamma * D / 2.
Lemma t_bounds : 0 < t <= 1.
Proof.
  pose proof gamma_small as Hg1. pose proof (D_pos mu L q mu_pos mu_L q_bounds) as HD. fold D in HD.
  unfold t. unfold low, high in Hg1. fold q in Hg1. fold D in Hg1. split.
  - apply Rdiv_lt_0_compat; [now apply Rmult_lt_0_compat|lra].
  - apply (Rmult_le_compat_r D) in Hg1; [|lra]. unfold Rdiv in Hg1.
    rewrite Rmult_assoc, Rinv_l in Hg1 by lra. lra.
Qed.

Lemma rate_is : rate mu L alpha gamma = (1 - t) + t * ratio ^ 2.
Proof.
  unfold rate, low, high, t, ratio. fold q. fold D.
  replace ((1 + q) * L + (1 - q) * mu) with D by (unfold D; ring). unfold Rdiv. ring.
Qed.

Lemma rate_nonneg : 0 <= rate mu L alpha gamma.
Proof.
  pose proof t_bounds. rewrite rate_is. pose proof (pow2_ge_0 ratio).
  apply Rplus_le_le_0_compat; [lra|]. apply Rmult_le_pos; lra.
Qed.

Lemma rate_below_1 : rate mu L alpha gamma < 1.
Proof.
  rewrite rate_is. pose proof t_bounds. pose proof (ratio_bounds mu L q mu_pos mu_L q_bounds) as [R0 R1].
  fold D in R0, R1. fold ratio in R0, R1.
  assert (ratio ^ 2 < 1) by nra. assert (0 < t * (1 - ratio ^ 2)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Lemma expected y :
  E (estimate y) (fun c => f (y -v gamma *v c) - f xs) <= rate mu L alpha gamma * (f y - f xs).
Proof.
  pose proof t_bounds as Ht. pose proof (D_pos mu L q mu_pos mu_L q_bounds) as HD. fold D in HD.
  rewrite rate_is. apply Rle_trans with (E (estimate y)
    (fun c => (1 - t) * f y - f xs + t * f (y -v (2 / D) *v c))).
  - apply E_le. intros c. replace gamma with (t * (2 / D)) by (unfold t; field; lra).
    pose proof (shorter y c t ltac:(lra)). lra.
  - rewrite E_plus, E_const, E_scal. pose proof (expected_largest y) as H.
    apply (Rmult_le_compat_l t) in H; [|lra]. lra.
Qed.
End Estimate.

Section CompressedGD.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (xs : V).
Context (C : (nat -> V) -> dist (nat -> V)) (b mu L alpha gamma : R).

Record state := State { x : V; sent : R }.
Definition start (x0 : V) : state := State x0 0.
Definition step (s : state) : dist state :=
  dmap (fun m => State (x s -v gamma *v vmean n m) (sent s + b)) (C (fun i => grad i (x s))).
Definition Psi (s : state) : R := fmean n f (x s) - fmean n f xs.

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : forall i, (i < n)%nat -> class mu L (f i) (grad i).
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L.
Hypothesis minimum : forall x, fmean n f xs <= fmean n f x.
Hypothesis compressors : forall x i, (i < n)%nat ->
  E (C x) (fun m => sq (m i -v x i)) <= (1 - alpha) * sq (x i).
Hypothesis alpha_1 : alpha <= 1.
Hypothesis parameters : conditions n mu L alpha gamma.

Let estimate (x : V) : dist V := dmap (vmean n) (C (fun i => grad i x)).

Lemma mean_class : class mu L (fmean n f) (gmean n grad).
Proof. now apply Functions.mean_class. Qed.

Lemma one : n = 1%nat.
Proof. destruct parameters as (H & _). change 1 with (INR 1) in H. apply INR_le in H. lia. Qed.

Lemma accurate x :
  E (estimate x) (fun c => sq (c -v gmean n grad x)) <= (1 - alpha) * sq (gmean n grad x).
Proof.
  assert (H : forall a : nat -> V, same (vmean n a) (a 0%nat)).
  { intros a z. rewrite dot_vmean_l, one. cbn. field. }
  unfold estimate, gmean. rewrite E_dmap, (same_sq _ _ (H _)).
  rewrite (E_ext _ _ (fun m => sq (m 0%nat -v grad 0%nat x)));
    [apply (compressors (fun i => grad i x)); lia|].
  intros m. now rewrite (same_sq_sub _ _ _ (H m)), (same_sq_sub_r _ _ _ (H _)).
Qed.

Theorem one_step s : E (step s) Psi <= rate mu L alpha gamma * Psi s.
Proof.
  destruct parameters as (_ & Ha & Hg & Hg1).
  pose proof (expected _ _ xs estimate mu L alpha gamma mean_class mu_pos mu_L minimum accurate
    Ha alpha_1 Hg Hg1 (x s)) as H.
  unfold estimate in H. rewrite E_dmap in H. unfold step, Psi. rewrite E_dmap. exact H.
Qed.

Theorem T_rounds T x0 :
  E (rounds step T (start x0)) Psi <= rate mu L alpha gamma ^ T * Psi (start x0).
Proof.
  destruct parameters as (_ & Ha & Hg & Hg1).
  apply Rounds.T_rounds with (inv := fun _ => True); auto using one_step.
  - intros; apply always_true.
  - now apply rate_nonneg.
Qed.

Theorem bits T x0 : E (rounds step T (start x0)) sent = INR T * b.
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + b)).
  - rewrite E_plus, E_const, IHT. ring.
  - intros. unfold step. rewrite E_dmap. simpl. apply E_const.
Qed.

(* Bits until E[f(x) - f(xs)] <= eps. *)
Theorem accuracy T x0 eps : 0 < eps -> 0 < Psi (start x0) ->
  ln (Psi (start x0) / eps) / (1 - rate mu L alpha gamma) <= INR T ->
  E (rounds step T (start x0)) Psi <= eps /\ E (rounds step T (start x0)) sent = INR T * b.
Proof.
  intros He HP HT. split; [|apply bits]. eapply Rle_trans; [apply T_rounds|].
  destruct parameters as (_ & Ha & Hg & Hg1).
  apply enough_rounds; auto. split; [now apply rate_nonneg|now apply rate_below_1].
Qed.
End CompressedGD.
