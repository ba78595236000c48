(* Real inner-product spaces of any dimension; x = y means <x, z> = <y, z> for all z. *)
From Certibit Require Export Sums.

Record space := Space {
  car :> Type;
  zero : car;
  add : car -> car -> car;
  scal : R -> car -> car;
  dot : car -> car -> R;
  dot_sym : forall x y, dot x y = dot y x;
  dot_zero_l : forall z, dot zero z = 0;
  dot_add_l : forall x y z, dot (add x y) z = dot x z + dot y z;
  dot_scal_l : forall a x z, dot (scal a x) z = a * dot x z;
  dot_pos : forall x, 0 <= dot x x }.

Arguments zero {s}.
Arguments add {s} _ _.
Arguments scal {s} _ _.
Arguments dot {s} _ _.
Arguments dot_sym {s} _ _.
Arguments dot_zero_l {s} _.
Arguments dot_add_l {s} _ _ _.
Arguments dot_scal_l {s} _ _ _.
Arguments dot_pos {s} _.

Declare Scope vec_scope.
Delimit Scope vec_scope with vec.
Notation "x '+v' y" := (add x y) (at level 50, left associativity).
Notation "a '*v' x" := (scal a x) (at level 40, left associativity).
Definition sub {V : space} (x y : V) : V := x +v (-1) *v y.
Notation "x '-v' y" := (sub x y) (at level 50, left associativity).
Definition sq {V : space} (x : V) : R := dot x x.

Section Space.
Context {V : space}.
Implicit Types x y z : V.

Lemma dot_zero_r z : dot z (@zero V) = 0.
Proof. rewrite dot_sym; apply dot_zero_l. Qed.
Lemma dot_add_r x y z : dot z (x +v y) = dot z x + dot z y.
Proof. now rewrite !(dot_sym z), dot_add_l. Qed.
Lemma dot_scal_r a x z : dot z (a *v x) = a * dot z x.
Proof. now rewrite !(dot_sym z), dot_scal_l. Qed.
Lemma dot_sub_l x y z : dot (x -v y) z = dot x z - dot y z.
Proof. unfold sub; rewrite dot_add_l, dot_scal_l; ring. Qed.
Lemma dot_sub_r x y z : dot z (x -v y) = dot z x - dot z y.
Proof. now rewrite !(dot_sym z), dot_sub_l. Qed.
Lemma sq_pos x : 0 <= sq x.
Proof. apply dot_pos. Qed.

Fixpoint vsum (n : nat) (x : nat -> V) : V :=
  match n with O => zero | S m => vsum m x +v x m end.
Definition vmean (n : nat) (x : nat -> V) : V := / INR n *v vsum n x.

Lemma dot_vsum_l n (x : nat -> V) z : dot (vsum n x) z = sum n (fun i => dot (x i) z).
Proof. induction n; simpl; rewrite ?dot_zero_l, ?dot_add_l, ?IHn; auto. Qed.
Lemma dot_vsum_r n (x : nat -> V) z : dot z (vsum n x) = sum n (fun i => dot z (x i)).
Proof. rewrite dot_sym, dot_vsum_l. apply sum_ext; intros; apply dot_sym. Qed.
End Space.

Global Hint Rewrite @dot_zero_l @dot_zero_r @dot_add_l @dot_add_r @dot_sub_l @dot_sub_r
  @dot_scal_l @dot_scal_r : dot.

(* Multiply inner products out, and write each in one of its two orders. *)
Ltac one_order :=
  repeat match goal with
  | |- context [dot ?x ?y] =>
      match goal with |- context [dot y x] => assert_fails (constr_eq x y); rewrite (dot_sym y x) end
  end.
Ltac expand := unfold sq; autorewrite with dot; one_order.

Section Inequalities.
Context {V : space}.
Implicit Types x y z : V.

Lemma young x y : sq (x -v y) <= 2 * sq x + 2 * sq y.
Proof. pose proof (sq_pos (x +v y)) as H. revert H; expand; intros; lra. Qed.

Lemma young_r r x y : 0 < r -> sq (x -v y) <= (1 + r) * sq x + (1 + / r) * sq y.
Proof.
  intros Hr. pose proof (sq_pos (r *v x +v y)) as H.
  apply (Rmult_le_compat_l (/ r)) in H; [|left; now apply Rinv_0_lt_compat].
  replace ((1 + r) * sq x + (1 + / r) * sq y) with (sq (x -v y) + / r * sq (r *v x +v y)); [lra|].
  expand. field. lra.
Qed.

Lemma null_dot x : sq x = 0 -> forall z, dot x z = 0.
Proof.
  intros H z.
  pose proof (sq_pos ((1 + sq z) *v x -v dot x z *v z)) as H1. revert H1.
  revert H; expand; intros H; rewrite H; intros.
  pose proof (dot_pos z).
  assert (dot x z * dot x z * (2 + dot z z) <= 0) by nra.
  nra.
Qed.

Lemma sum_of_squares n (x : nat -> V) z :
  sum n (fun i => sq (x i -v z)) =
  sum n (fun i => sq (x i)) - 2 * dot (vsum n x) z + INR n * sq z.
Proof.
  induction n; [simpl; expand; ring|]. rewrite S_INR. simpl. rewrite IHn. expand. ring.
Qed.

Lemma jensen n (x : nat -> V) : sq (vsum n x) <= INR n * sum n (fun i => sq (x i)).
Proof.
  induction n; [simpl; expand; lra|]. rewrite S_INR. simpl.
  assert (0 <= sum n (fun i => sq (x i -v x n))) as H by (apply sum_nonneg; intros; apply sq_pos).
  rewrite sum_of_squares in H. revert H IHn. expand. intros. nra.
Qed.

Lemma jensen_mean n (x : nat -> V) : (1 <= n)%nat ->
  sq (vmean n x) <= / INR n * sum n (fun i => sq (x i)).
Proof.
  intros Hn. pose proof (INR_pos n Hn) as Hp. pose proof (jensen n x) as H.
  unfold vmean. replace (sq (/ INR n *v vsum n x)) with (/ INR n * / INR n * sq (vsum n x))
    by (expand; ring).
  apply Rle_trans with (/ INR n * / INR n * (INR n * sum n (fun i => sq (x i)))).
  - apply Rmult_le_compat_l; auto. pose proof (Rinv_0_lt_compat _ Hp). nra.
  - right. field. lra.
Qed.
End Inequalities.

(* Instances: R^d; n vectors of a space; n vectors and one of the server, whose product counts n times. *)
Definition Rd (d : nat) : space.
Proof.
  refine (Space (nat -> R) (fun _ => 0) (fun x y i => x i + y i) (fun a x i => a * x i)
    (fun x y => sum d (fun i => x i * y i)) _ _ _ _ _).
  - intros; apply sum_ext; intros; ring.
  - intros; apply sum_zero; intros; ring.
  - intros; rewrite <- sum_plus; apply sum_ext; intros; ring.
  - intros; rewrite <- sum_scal; apply sum_ext; intros; ring.
  - intros; apply sum_nonneg; intros. nra.
Defined.

Definition power (n : nat) (V : space) : space.
Proof.
  refine (Space (nat -> V) (fun _ => zero) (fun x y i => x i +v y i) (fun a x i => a *v x i)
    (fun x y => sum n (fun i => dot (x i) (y i))) _ _ _ _ _).
  - intros; apply sum_ext; intros; apply dot_sym.
  - intros; apply sum_zero; intros; apply dot_zero_l.
  - intros; rewrite <- sum_plus; apply sum_ext; intros; apply dot_add_l.
  - intros; rewrite <- sum_scal; apply sum_ext; intros; apply dot_scal_l.
  - intros; apply sum_nonneg; intros; apply dot_pos.
Defined.

Definition joint (n : nat) (V : space) : space.
Proof.
  refine (Space ((nat -> V) * V) (fun _ => zero, zero)
    (fun a b => (fun i => fst a i +v fst b i, snd a +v snd b))
    (fun c a => (fun i => c *v fst a i, c *v snd a))
    (fun a b => sum n (fun i => dot (fst a i) (fst b i)) + INR n * dot (snd a) (snd b)) _ _ _ _ _).
  - intros. rewrite dot_sym. f_equal. apply sum_ext; intros; apply dot_sym.
  - intros. simpl. rewrite dot_zero_l, sum_zero; [ring|]. intros; apply dot_zero_l.
  - intros. simpl. rewrite dot_add_l.
    rewrite (sum_ext _ _ (fun i => dot (fst x i) (fst z i) + dot (fst y i) (fst z i))).
    + rewrite sum_plus. ring.
    + intros; apply dot_add_l.
  - intros. simpl. rewrite dot_scal_l.
    rewrite (sum_ext _ _ (fun i => a * dot (fst x i) (fst z i))).
    + rewrite sum_scal. ring.
    + intros; apply dot_scal_l.
  - intros. pose proof (pos_INR n). pose proof (dot_pos (snd x)).
    apply Rplus_le_le_0_compat; [|nra]. apply sum_nonneg; intros; apply dot_pos.
Defined.

(* Vectors with the same inner products. *)
Section Same.
Context {V : space}.
Implicit Types x y z : V.

Definition same x y : Prop := forall z, dot x z = dot y z.

Lemma same_sq x y : same x y -> sq x = sq y.
Proof. intros H. unfold sq. rewrite H, dot_sym. apply H. Qed.

Lemma same_dot x y z w : same x y -> same z w -> dot x z = dot y w.
Proof. intros H1 H2. now rewrite H1, dot_sym, H2, dot_sym. Qed.

Lemma same_sq_sub x y z : same x y -> sq (x -v z) = sq (y -v z).
Proof. intros H. apply same_sq. intros w. now rewrite !dot_sub_l, H. Qed.

Lemma same_sq_sub_r x y z : same x y -> sq (z -v x) = sq (z -v y).
Proof. intros H. apply same_sq. intros w. now rewrite !dot_sub_l, H. Qed.

Lemma dot_vmean_l n (x : nat -> V) z : dot (vmean n x) z = / INR n * sum n (fun i => dot (x i) z).
Proof. unfold vmean. now rewrite dot_scal_l, dot_vsum_l. Qed.

Lemma dot_vmean_sub n (x y : nat -> V) z :
  dot (vmean n (fun i => x i -v y i)) z = dot (vmean n x) z - dot (vmean n y) z.
Proof.
  rewrite !dot_vmean_l, <- Rmult_minus_distr_l, <- sum_minus. f_equal.
  apply sum_ext; intros; apply dot_sub_l.
Qed.

Lemma variance_split n (x : nat -> V) : (1 <= n)%nat ->
  / INR n * sum n (fun i => sq (x i)) =
  sq (vmean n x) + / INR n * sum n (fun i => sq (x i -v vmean n x)).
Proof.
  intros Hn. pose proof (INR_pos n Hn). rewrite sum_of_squares.
  replace (dot (vsum n x) (vmean n x)) with (INR n * sq (vmean n x))
    by (unfold vmean, sq; autorewrite with dot; field; lra).
  field. lra.
Qed.

Lemma sq_convex (a b : V) t : 0 <= t <= 1 -> sq (a +v t *v b) <= t * sq (a +v b) + (1 - t) * sq a.
Proof.
  intros Ht. pose proof (sq_pos b) as H. assert (0 <= t * (1 - t) * sq b) by (apply Rmult_le_pos; nra).
  replace (t * sq (a +v b) + (1 - t) * sq a) with (sq (a +v t *v b) + t * (1 - t) * sq b); [lra|].
  expand. ring.
Qed.
End Same.
