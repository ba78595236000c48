(* Distributions on finitely many outcomes, their composition, and independent draws. *)
From Coq Require Export List.
From Certibit Require Export Spaces.
Export ListNotations.

Fixpoint wsum {A} (l : list (R * A)) (f : A -> R) : R :=
  match l with nil => 0 | (p, a) :: l => p * f a + wsum l f end.

Record dist (A : Type) := Dist {
  atoms : list (R * A);
  weights : Forall (fun a => 0 <= fst a) atoms;
  total : wsum atoms (fun _ => 1) = 1 }.
Arguments Dist {A} _ _ _.
Arguments atoms {A} _.
Arguments weights {A} _.
Arguments total {A} _.

Definition E {A} (d : dist A) (f : A -> R) : R := wsum (atoms d) f.
Definition always {A} (d : dist A) (P : A -> Prop) : Prop := Forall (fun a => P (snd a)) (atoms d).

Section Expectation.
Context {A : Type}.
Implicit Types (f g : A -> R) (d : dist A).

Lemma wsum_plus (l : list (R * A)) f g : wsum l (fun a => f a + g a) = wsum l f + wsum l g.
Proof. induction l as [|[p a] l IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma wsum_scal (l : list (R * A)) c f : wsum l (fun a => c * f a) = c * wsum l f.
Proof. induction l as [|[p a] l IH]; simpl; [|rewrite IH]; ring. Qed.

Lemma E_plus d f g : E d (fun a => f a + g a) = E d f + E d g.
Proof. apply wsum_plus. Qed.
Lemma E_scal d c f : E d (fun a => c * f a) = c * E d f.
Proof. apply wsum_scal. Qed.
Lemma E_scal_r d c f : E d (fun a => f a * c) = E d f * c.
Proof. rewrite Rmult_comm, <- E_scal. unfold E. induction (atoms d) as [|[p a] l IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma E_const d c : E d (fun _ => c) = c.
Proof.
  transitivity (c * E d (fun _ => 1)); [|unfold E; rewrite (total d); ring].
  rewrite <- E_scal. unfold E. now rewrite Rmult_1_r.
Qed.
Lemma E_le_always d f g (P : A -> Prop) :
  always d P -> (forall a, P a -> f a <= g a) -> E d f <= E d g.
Proof.
  unfold E, always. destruct d as [l Hw Ht]; simpl. clear Ht. intros HP H.
  induction l as [|[p a] l IH]; simpl; [lra|].
  inversion Hw; inversion HP; subst; simpl in *.
  apply Rplus_le_compat; auto. apply Rmult_le_compat_l; auto.
Qed.
Lemma always_true d : always d (fun _ => True).
Proof. unfold always. induction (atoms d); auto. Qed.
Lemma E_le d f g : (forall a, f a <= g a) -> E d f <= E d g.
Proof. intros; eapply E_le_always; [apply always_true|auto]. Qed.
Lemma E_ext d f g : (forall a, f a = g a) -> E d f = E d g.
Proof. intros. apply Rle_antisym; apply E_le; intros; rewrite H; lra. Qed.
Lemma E_minus d f g : E d (fun a => f a - g a) = E d f - E d g.
Proof.
  rewrite (E_ext d _ (fun a => f a + (-1) * g a)) by (intros; ring).
  rewrite E_plus, E_scal. ring.
Qed.
Lemma E_sum d n (f : nat -> A -> R) : E d (fun a => sum n (fun i => f i a)) = sum n (fun i => E d (f i)).
Proof. induction n; simpl; [apply E_const|]. now rewrite E_plus, IHn. Qed.
Lemma E_nonneg d f : (forall a, 0 <= f a) -> 0 <= E d f.
Proof. intros. rewrite <- (E_const d 0). now apply E_le. Qed.
End Expectation.

(* The monad. *)
Definition ret {A} (a : A) : dist A.
Proof. refine (Dist [(1, a)] _ _); [repeat constructor; simpl; lra|simpl; ring]. Defined.

Definition scaled {A} (p : R) (l : list (R * A)) := map (fun a => (p * fst a, snd a)) l.
Fixpoint spread {A B} (l : list (R * A)) (k : A -> dist B) : list (R * B) :=
  match l with nil => nil | (p, a) :: l => scaled p (atoms (k a)) ++ spread l k end.

Lemma wsum_app {A} (l m : list (R * A)) f : wsum (l ++ m) f = wsum l f + wsum m f.
Proof. induction l as [|[p a] l IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma wsum_scaled {A} p (l : list (R * A)) f : wsum (scaled p l) f = p * wsum l f.
Proof. induction l as [|[q a] l IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma wsum_spread {A B} (l : list (R * A)) (k : A -> dist B) f :
  wsum (spread l k) f = wsum l (fun a => E (k a) f).
Proof.
  induction l as [|[p a] l IH]; simpl; auto. now rewrite wsum_app, wsum_scaled, IH.
Qed.

Definition bind {A B} (d : dist A) (k : A -> dist B) : dist B.
Proof.
  refine (Dist (spread (atoms d) k) _ _).
  - pose proof (weights d) as H. induction H as [|[p a] l Hp Hl IH]; simpl; [constructor|].
    apply Forall_app; split; auto. unfold scaled. simpl in Hp.
    apply Forall_map. eapply Forall_impl; [|apply (weights (k a))].
    intros [q b] Hq. simpl in *. now apply Rmult_le_pos.
  - rewrite wsum_spread. change (E d (fun a => E (k a) (fun _ => 1)) = 1).
    rewrite (E_ext d _ (fun _ => 1)) by (intros; apply E_const). apply E_const.
Defined.

Definition dmap {A B} (h : A -> B) (d : dist A) : dist B := bind d (fun a => ret (h a)).

Lemma E_ret {A} (a : A) f : E (ret a) f = f a.
Proof. unfold E; simpl; ring. Qed.
Lemma E_bind {A B} (d : dist A) (k : A -> dist B) f : E (bind d k) f = E d (fun a => E (k a) f).
Proof. apply wsum_spread. Qed.
Lemma E_dmap {A B} (h : A -> B) (d : dist A) f : E (dmap h d) f = E d (fun a => f (h a)).
Proof. unfold dmap. rewrite E_bind. apply E_ext; intros; apply E_ret. Qed.

Lemma always_ret {A} (a : A) (P : A -> Prop) : P a -> always (ret a) P.
Proof. intros; repeat constructor; auto. Qed.
Lemma always_bind {A B} (d : dist A) (k : A -> dist B) (P : A -> Prop) (Q : B -> Prop) :
  always d P -> (forall a, P a -> always (k a) Q) -> always (bind d k) Q.
Proof.
  unfold always; simpl. intros HP Hk. induction HP as [|[p a] l Hp Hl IH]; simpl; [constructor|].
  apply Forall_app; split; auto. apply Forall_map. simpl. now apply Hk.
Qed.
Lemma always_dmap {A B} (h : A -> B) (d : dist A) (Q : B -> Prop) :
  (forall a, Q (h a)) -> always (dmap h d) Q.
Proof.
  intros H. apply always_bind with (P := fun _ => True); [apply always_true|].
  intros; now apply always_ret.
Qed.

(* A coin of probability p. *)
Definition coin (p : R) (Hp : 0 <= p <= 1) : dist bool.
Proof.
  refine (Dist [(p, true); (1 - p, false)] _ _); [|simpl; ring].
  constructor; [|constructor; [|constructor]]; simpl; lra.
Defined.
Lemma E_coin p Hp f : E (coin p Hp) f = p * f true + (1 - p) * f false.
Proof. unfold E; simpl; ring. Qed.

(* Independent draws a_i ~ C_i, i < n: the product space. *)
Definition put {A} (y : nat -> A) (m : nat) (a : A) (i : nat) : A := if Nat.eqb i m then a else y i.
Fixpoint draw {A} (n : nat) (C : nat -> dist A) (rest : A) : dist (nat -> A) :=
  match n with
  | O => ret (fun _ => rest)
  | S m => bind (draw m C rest) (fun y => bind (C m) (fun a => ret (put y m a)))
  end.

Lemma put_new {A} (y : nat -> A) m a : put y m a m = a.
Proof. unfold put. now rewrite Nat.eqb_refl. Qed.
Lemma put_old {A} (y : nat -> A) m a i : (i < m)%nat -> put y m a i = y i.
Proof. intros. unfold put. destruct (Nat.eqb_spec i m); [lia|auto]. Qed.

Lemma E_draw_S {A} n (C : nat -> dist A) r f :
  E (draw (S n) C r) f = E (draw n C r) (fun y => E (C n) (fun a => f (put y n a))).
Proof.
  simpl. rewrite E_bind. apply E_ext; intros. rewrite E_bind. apply E_ext; intros. apply E_ret.
Qed.

Lemma marginal {A} n (C : nat -> dist A) r i f : (i < n)%nat ->
  E (draw n C r) (fun y => f (y i)) = E (C i) f.
Proof.
  induction n; intros Hi; [lia|]. rewrite E_draw_S.
  destruct (Nat.eq_dec i n) as [->|].
  - rewrite (E_ext _ _ (fun _ => E (C n) f)); [apply E_const|].
    intros; apply E_ext; intros; now rewrite put_new.
  - rewrite (E_ext _ _ (fun y => f (y i))); [apply IHn; lia|].
    intros. rewrite (E_ext _ _ (fun _ => f (a i))); [apply E_const|].
    intros; now rewrite put_old by lia.
Qed.

(* Random vectors. *)
Section Vectors.
Context {V : space}.

Definition unbiased (d : dist V) (x : V) : Prop := forall z, E d (fun a => dot a z) = dot x z.

Lemma bias_variance {A} (d : dist A) (a : A -> V) (x z : V) :
  (forall z, E d (fun o => dot (a o) z) = dot x z) ->
  E d (fun o => sq (a o -v z)) = sq (x -v z) + E d (fun o => sq (a o -v x)).
Proof.
  intros H.
  rewrite (E_ext d _ (fun o => sq (a o -v x) + (2 * dot (a o) (x -v z) - 2 * dot x (x -v z) + sq (x -v z))))
    by (intros; expand; ring).
  rewrite E_plus, E_plus, E_minus, E_scal, H, !E_const. ring.
Qed.

Theorem variance_of_sum n (C : nat -> dist V) r (x : nat -> V) :
  (forall i, (i < n)%nat -> unbiased (C i) (x i)) ->
  E (draw n C r) (fun y => sq (vsum n y -v vsum n x)) = sum n (fun i => E (C i) (fun a => sq (a -v x i))).
Proof.
  induction n; intros Hu; [simpl; rewrite E_ret; expand; ring|].
  rewrite E_draw_S.
  assert (Hv : forall m y k (a : V), (m <= k)%nat -> vsum m (put y k a) = vsum m y).
  { induction m; intros; simpl; auto. rewrite IHm, put_old by lia. auto. }
  rewrite (E_ext _ _ (fun y => sq (vsum n y -v vsum n x) + E (C n) (fun a => sq (a -v x n)))).
  - rewrite E_plus, E_const, IHn by (intros; apply Hu; lia). reflexivity.
  - intros y. simpl.
    rewrite (E_ext _ _ (fun a => sq (a -v x n) +
      (2 * dot a (vsum n y -v vsum n x) - 2 * dot (x n) (vsum n y -v vsum n x)
       + sq (vsum n y -v vsum n x)))).
    + rewrite E_plus, E_plus, E_minus, E_scal, (Hu n), !E_const by lia. ring.
    + intros. rewrite Hv, put_new by lia. expand. ring.
Qed.
End Vectors.
