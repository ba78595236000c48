(* Functions with mu/2 |y - x|^2 <= f(y) - f(x) - <grad f(x), y - x> <= L/2 |y - x|^2.
   mu > 0: strongly convex; mu = 0: convex; mu = -L: smooth only. *)
From Certibit Require Export Spaces.

Section Functions.
Context {V : space}.

Record class (mu L : R) (f : V -> R) (grad : V -> V) : Prop := {
  lower : forall x y, f x + dot (grad x) (y -v x) + mu / 2 * sq (y -v x) <= f y;
  upper : forall x y, f y <= f x + dot (grad x) (y -v x) + L / 2 * sq (y -v x) }.

Context {mu L : R} {f : V -> R} {grad : V -> V} (H : class mu L f grad).

(* The bounds meet at y - t w, w = grad f(y) - grad f(x) - mu (y - x). *)
Lemma gap x y t (w := grad y -v grad x -v mu *v (y -v x)) :
  f x + dot (grad x) (y -v x) + mu / 2 * sq (y -v x) + (t - (L - mu) / 2 * t ^ 2) * sq w <= f y.
Proof.
  pose proof (lower _ _ _ _ H x (y -v t *v w)) as Hl.
  pose proof (upper _ _ _ _ H y (y -v t *v w)) as Hu.
  assert (Hs : sq w = dot w (grad y) - dot w (grad x) - mu * (dot w y - dot w x)).
  { unfold w at 2. unfold sq, w. expand. ring. }
  rewrite Hs. clearbody w. revert Hl Hu Hs. expand. intros. nra.
Qed.

Theorem cocoercive x y : mu <= L ->
  0 <= dot (grad x -v grad y -v mu *v (x -v y)) (L *v (x -v y) -v (grad x -v grad y)).
Proof.
  intros HL. set (w := grad x -v grad y -v mu *v (x -v y)).
  assert (Hall : forall t, (2 * t - (L - mu) * t ^ 2) * sq w <= dot w (x -v y)).
  { intros t. pose proof (gap x y t) as H1. pose proof (gap y x t) as H2.
    unfold w. revert H1 H2. expand. intros. nra. }
  replace (dot w _) with ((L - mu) * dot w (x -v y) - sq w) by (unfold w; expand; ring).
  destruct (Rle_lt_or_eq_dec _ _ HL) as [Hlt|Heq].
  - specialize (Hall (/ (L - mu))).
    replace (2 * / (L - mu) - (L - mu) * (/ (L - mu)) ^ 2) with (/ (L - mu)) in Hall by (field; lra).
    apply (Rmult_le_compat_l (L - mu)) in Hall; [|lra].
    rewrite <- Rmult_assoc, Rinv_r in Hall by lra. lra.
  - replace (L - mu) with 0 in * by lra.
    destruct (Rle_lt_or_eq_dec 0 (sq w) (sq_pos w)) as [Hw|Hw]; [|lra].
    specialize (Hall ((dot w (x -v y) + 1) / (2 * sq w))).
    replace ((2 * _ - _) * sq w) with (dot w (x -v y) + 1) in Hall by (field; lra). lra.
Qed.

(* Consequences. *)
Corollary product x y : mu <= L ->
  mu * L * sq (x -v y) + sq (grad x -v grad y) <= (mu + L) * dot (grad x -v grad y) (x -v y).
Proof. intros HL. pose proof (cocoercive x y HL) as Hc. revert Hc. expand. intros. nra. Qed.

Corollary monotone x y : mu * sq (x -v y) <= dot (grad x -v grad y) (x -v y).
Proof.
  pose proof (lower _ _ _ _ H x y) as H1. pose proof (lower _ _ _ _ H y x) as H2.
  revert H1 H2. expand. intros. nra.
Qed.

Corollary antitone x y : dot (grad x -v grad y) (x -v y) <= L * sq (x -v y).
Proof.
  pose proof (upper _ _ _ _ H x y) as H1. pose proof (upper _ _ _ _ H y x) as H2.
  revert H1 H2. expand. intros. nra.
Qed.

Theorem at_minimum xs : 0 < L -> (forall x, f xs <= f x) -> forall z, dot (grad xs) z = 0.
Proof.
  intros HL Hm. apply null_dot.
  pose proof (upper _ _ _ _ H xs (xs -v / L *v grad xs)) as Hu.
  specialize (Hm (xs -v / L *v grad xs)).
  assert (f xs <= f xs - / (2 * L) * sq (grad xs)).
  { eapply Rle_trans; [exact Hm|]. eapply Rle_trans; [exact Hu|]. right. expand. field. lra. }
  pose proof (sq_pos (grad xs)). assert (0 < / (2 * L)) by (apply Rinv_0_lt_compat; lra). nra.
Qed.

(* A gradient step: the factor of GD, and of the local steps. *)
Definition step_factor (gamma : R) : R := Rmax ((1 - gamma * mu) ^ 2) ((1 - gamma * L) ^ 2).

Theorem gradient_step gamma x y : mu <= L -> 0 <= gamma ->
  sq (x -v gamma *v grad x -v (y -v gamma *v grad y)) <= step_factor gamma * sq (x -v y).
Proof.
  intros HL Hg. set (e := x -v y). set (G := grad x -v grad y).
  assert (Hc : mu * L * sq e + sq G <= (mu + L) * dot G e) by (apply product; auto).
  assert (Hm : mu * sq e <= dot G e) by apply monotone.
  assert (Ha : dot G e <= L * sq e) by apply antitone.
  replace (sq _) with (sq e - 2 * gamma * dot G e + gamma ^ 2 * sq G) by (unfold e, G; expand; ring).
  pose proof (sq_pos e) as He. unfold step_factor.
  destruct (Rle_dec (gamma * (mu + L)) 2) as [Hs|Hs].
  - apply Rle_trans with ((1 - gamma * mu) ^ 2 * sq e).
    + assert (gamma ^ 2 * sq G <= gamma ^ 2 * ((mu + L) * dot G e - mu * L * sq e))
        by (apply Rmult_le_compat_l; [apply pow2_ge_0|lra]).
      assert (0 <= gamma * (2 - gamma * (mu + L)) * (dot G e - mu * sq e))
        by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
      nra.
    + apply Rmult_le_compat_r; [auto|apply Rmax_l].
  - apply Rle_trans with ((1 - gamma * L) ^ 2 * sq e).
    + assert (gamma ^ 2 * sq G <= gamma ^ 2 * ((mu + L) * dot G e - mu * L * sq e))
        by (apply Rmult_le_compat_l; [apply pow2_ge_0|lra]).
      assert (0 <= gamma * (gamma * (mu + L) - 2) * (L * sq e - dot G e))
        by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
      nra.
    + apply Rmult_le_compat_r; [auto|apply Rmax_r].
Qed.
End Functions.

(* The mean of functions of a class is of the class, and so is sum_i f_i(x_i) + n g(y). *)
Definition fmean {V : space} (n : nat) (f : nat -> V -> R) (x : V) : R :=
  / INR n * sum n (fun i => f i x).
Definition gmean {V : space} (n : nat) (g : nat -> V -> V) (x : V) : V := vmean n (fun i => g i x).

Lemma mean_class {V : space} n mu L (f : nat -> V -> R) grad : (1 <= n)%nat ->
  (forall i, (i < n)%nat -> class mu L (f i) (grad i)) -> class mu L (fmean n f) (gmean n grad).
Proof.
  intros Hn H. pose proof (Rinv_0_lt_compat _ (INR_pos n Hn)) as Hp.
  assert (E : forall x y c, fmean n f x + dot (gmean n grad x) (y -v x) + c * sq (y -v x) =
    / INR n * sum n (fun i => f i x + dot (grad i x) (y -v x) + c * sq (y -v x))).
  { intros. unfold fmean, gmean, vmean. rewrite !sum_plus, sum_const, dot_scal_l, dot_vsum_l.
    field. pose proof (INR_pos n Hn). lra. }
  split; intros; rewrite E; apply Rmult_le_compat_l; try lra; apply sum_le; intros;
    apply (H i); auto.
Qed.

Lemma plus_class {V : space} mu L mu' L' (f : V -> R) grad (g : V -> R) grad_g :
  class mu L f grad -> class mu' L' g grad_g ->
  class (mu + mu') (L + L') (fun x => f x + g x) (fun x => grad x +v grad_g x).
Proof.
  intros Hf Hg. split; intros x y; rewrite dot_add_l.
  - pose proof (lower _ _ _ _ Hf x y). pose proof (lower _ _ _ _ Hg x y). lra.
  - pose proof (upper _ _ _ _ Hf x y). pose proof (upper _ _ _ _ Hg x y). lra.
Qed.

Lemma joint_class {V : space} n mu L (f : nat -> V -> R) grad g grad_g :
  (forall i, (i < n)%nat -> class mu L (f i) (grad i)) -> class mu L g grad_g ->
  @class (joint n V) mu L (fun z => sum n (fun i => f i (fst z i)) + INR n * g (snd z))
    (fun z => (fun i => grad i (fst z i), grad_g (snd z))).
Proof.
  intros H Hg. pose proof (pos_INR n).
  split; intros x y; unfold sq; simpl.
  - pose proof (lower _ _ _ _ Hg (snd x) (snd y)) as Hl.
    assert (Hs := sum_le n _ _ (fun i Hi => lower _ _ _ _ (H i Hi) (fst x i) (fst y i))).
    rewrite !sum_plus, sum_scal in Hs. unfold sub, sq in *. nra.
  - pose proof (upper _ _ _ _ Hg (snd x) (snd y)) as Hl.
    assert (Hs := sum_le n _ _ (fun i Hi => upper _ _ _ _ (H i Hi) (fst x i) (fst y i))).
    rewrite !sum_plus, sum_scal in Hs. unfold sub, sq in *. nra.
Qed.

Lemma power_class {V : space} n mu L (f : nat -> V -> R) grad :
  (forall i, (i < n)%nat -> class mu L (f i) (grad i)) ->
  @class (power n V) mu L (fun z => sum n (fun i => f i (z i))) (fun z i => grad i (z i)).
Proof.
  intros H. split; intros x y; unfold sq; simpl.
  - assert (Hs := sum_le n _ _ (fun i Hi => lower _ _ _ _ (H i Hi) (x i) (y i))).
    rewrite !sum_plus, sum_scal in Hs. exact Hs.
  - assert (Hs := sum_le n _ _ (fun i Hi => upper _ _ _ _ (H i Hi) (x i) (y i))).
    rewrite !sum_plus, sum_scal in Hs. exact Hs.
Qed.

Lemma weaken_class {V : space} mu mu' L (f : V -> R) grad : mu' <= mu -> class mu L f grad -> class mu' L f grad.
Proof.
  intros Hm H. split; intros x y; [|apply H]. pose proof (lower _ _ _ _ H x y).
  pose proof (sq_pos (y -v x)). nra.
Qed.

(* Convex functions: the gap in values and in gradients. *)
Lemma convex_gap {V : space} L (f : V -> R) grad x y : 0 < L -> class 0 L f grad ->
  f x - f y + / (2 * L) * sq (grad x -v grad y) <= dot (grad x) (x -v y).
Proof.
  intros HL H. pose proof (gap H x y (/ L)) as Hg. cbn zeta in Hg.
  replace (/ L - (L - 0) / 2 * (/ L) ^ 2) with (/ (2 * L)) in Hg by (field; lra).
  replace (sq (grad y -v grad x -v 0 *v (y -v x))) with (sq (grad x -v grad y)) in Hg by (expand; ring).
  revert Hg. rewrite !dot_sub_r. lra.
Qed.
