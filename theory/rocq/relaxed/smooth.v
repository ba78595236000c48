(* (L0, L1)-smooth functions on R^d, and the statement and the proof of a decrease of a method that clips. *)

From Coq Require Export QArith Qreals List Bool ZArith.
From Certibit Require Export Sums.
Export ListNotations.
Local Open Scope R_scope.

(** * Vectors of R^d, and (L0, L1)-smooth functions *)

Definition vector := nat -> R.

Definition inner (d : nat) (u v : vector) : R := sum d (fun i => u i * v i).
Definition norm (d : nat) (u : vector) : R := sqrt (inner d u u).
Definition moved (x : vector) (t : R) (v : vector) : vector := fun i => x i + t * v i.

(** f has the gradient [grad] and second derivatives in all directions v, [hess x v], with
    |Hess f(x) v| <= (L0 + L1 |grad f(x)|) |v|. *)
Definition relaxed_smooth (d : nat) (L0 L1 : R) (f : vector -> R) (grad : vector -> vector)
    : Prop :=
  exists hess : vector -> vector -> vector,
  (forall x y, (forall i, (i < d)%nat -> x i = y i) ->
     f x = f y /\ forall i, (i < d)%nat -> grad x i = grad y i) /\
  (forall x v t, derivable_pt_lim (fun s => f (moved x s v)) t (inner d (grad (moved x t v)) v)) /\
  (forall x v t i, (i < d)%nat ->
     derivable_pt_lim (fun s => grad (moved x s v) i) t (hess (moved x t v) v i)) /\
  (forall x v, norm d (hess x v) <= (L0 + L1 * norm d (grad x)) * norm d v).

Lemma sum_derivative : forall d (f f' : nat -> R -> R) t,
  (forall i, (i < d)%nat -> derivable_pt_lim (f i) t (f' i t)) ->
  derivable_pt_lim (fun s => sum d (fun i => f i s)) t (sum d (fun i => f' i t)).
Proof.
  induction d as [|d IH]; intros f f' t H; simpl; [apply derivable_pt_lim_const|].
  apply (derivable_pt_lim_plus (fun s => sum d (fun i => f i s)) (f d));
    [apply (IH f f'); intros; apply H; lia | apply H; lia].
Qed.

Section Inner.
  Variable d : nat.

  Lemma inner_symmetric : forall u v, inner d u v = inner d v u.
  Proof. intros; apply sum_ext; intros; ring. Qed.

  Lemma inner_equal : forall u u' v,
    (forall i, (i < d)%nat -> u i = u' i) -> inner d u v = inner d u' v.
  Proof. intros u u' v H; apply sum_ext; intros i Hi; rewrite (H i Hi); reflexivity. Qed.

  Lemma inner_combined : forall a u b v w,
    inner d (fun i => a * u i + b * v i) w = a * inner d u w + b * inner d v w.
  Proof.
    intros; unfold inner; rewrite <- !sum_scal, <- sum_plus; apply sum_ext; intros; ring.
  Qed.

  Lemma inner_square : forall u, 0 <= inner d u u.
  Proof. intro u; apply sum_nonneg; intros; nra. Qed.

  Lemma norm_nonnegative : forall u, 0 <= norm d u.
  Proof. intro; apply sqrt_pos. Qed.

  Lemma norm_square : forall u, norm d u * norm d u = inner d u u.
  Proof. intro u; apply sqrt_sqrt, inner_square. Qed.

  Lemma inner_of_combination : forall a u b v,
    inner d (fun i => a * u i + b * v i) (fun i => a * u i + b * v i)
    = a * a * inner d u u + 2 * a * b * inner d u v + b * b * inner d v v.
  Proof.
    intros; rewrite inner_combined, (inner_symmetric u), (inner_symmetric v), !inner_combined.
    rewrite (inner_symmetric v u); ring.
  Qed.

  (** Cauchy and Schwarz. *)
  Lemma inner_at_most : forall u v, inner d u v <= norm d u * norm d v.
  Proof.
    intros u v.
    pose proof (norm_nonnegative u) as Pu; pose proof (norm_nonnegative v) as Pv.
    pose proof (norm_square u) as Su; pose proof (norm_square v) as Sv.
    pose proof (inner_square (fun i => norm d v * u i + (- norm d u) * v i)) as P.
    rewrite inner_of_combination, <- Su, <- Sv in P.
    destruct (Req_dec (norm d u * norm d v) 0) as [Z|Z].
    - (* one of them is 0 *)
      pose proof (inner_square (fun i => (1 + inner d v v) * u i + (- inner d u v) * v i)) as P1.
      pose proof (inner_square (fun i => (- inner d u v) * u i + (1 + inner d u u) * v i)) as P2.
      rewrite inner_of_combination, <- Su, <- Sv in P1, P2.
      rewrite Z.
      apply Rmult_integral in Z; destruct Z as [Z|Z]; rewrite Z in *; nra.
    - assert (0 < norm d u * norm d v) by (assert (0 <= norm d u * norm d v) by nra; lra).
      nra.
  Qed.

  Lemma inner_at_least : forall u v, - (norm d u * norm d v) <= inner d u v.
  Proof.
    intros u v; pose proof (inner_at_most (fun i => (-1) * u i + 0 * u i) v) as P.
    rewrite inner_combined in P.
    replace (norm d (fun i => -1 * u i + 0 * u i)) with (norm d u) in P; [lra|].
    unfold norm; rewrite inner_of_combination; f_equal; ring.
  Qed.

  Lemma norm_combined : forall a u b v,
    norm d (fun i => a * u i + b * v i) <= Rabs a * norm d u + Rabs b * norm d v.
  Proof.
    intros a u b v.
    pose proof (norm_nonnegative u) as Pu; pose proof (norm_nonnegative v) as Pv.
    pose proof (Rabs_pos a); pose proof (Rabs_pos b).
    unfold norm at 1; rewrite <- (sqrt_Rsqr (Rabs a * norm d u + Rabs b * norm d v)) by nra.
    apply sqrt_le_1_alt; rewrite inner_of_combination, <- !norm_square; unfold Rsqr.
    replace (a * a) with (Rabs a * Rabs a) by (rewrite <- Rabs_mult; apply Rabs_pos_eq; nra).
    replace (b * b) with (Rabs b * Rabs b) by (rewrite <- Rabs_mult; apply Rabs_pos_eq; nra).
    assert (a * b * inner d u v <= Rabs a * Rabs b * (norm d u * norm d v)); [|nra].
    rewrite <- Rabs_mult.
    pose proof (inner_at_most u v); pose proof (inner_at_least u v).
    pose proof (Rle_abs (a * b)); pose proof (Rle_abs (- (a * b))) as B; rewrite Rabs_Ropp in B.
    destruct (Rle_dec 0 (a * b)); nra.
  Qed.
End Inner.

(** A function with a derivative that is nonnegative inside an interval does not decrease on it. *)
Lemma increases : forall F F' a b, a <= b ->
  (forall t, a <= t <= b -> derivable_pt_lim F t (F' t)) ->
  (forall t, a < t < b -> 0 <= F' t) -> F a <= F b.
Proof.
  intros F F' a b [L| ->] D P; [|lra].
  destruct (MVT_cor2 F F' a b L D) as [t [E T]].
  assert (0 <= F' t) by (apply P; lra); nra.
Qed.

Lemma derivative_is : forall F t l l', derivable_pt_lim F t l -> l = l' -> derivable_pt_lim F t l'.
Proof. intros F t l l' H <-; exact H. Qed.

Lemma linear_derivative : forall a t, derivable_pt_lim (fun s => a * s) t a.
Proof.
  intros a t; apply derivative_is with (a * 1); [|ring].
  apply (derivable_pt_lim_scal (fun s => s)), derivable_pt_lim_id.
Qed.

(** * How fast a gradient grows along a step *)

Section Along.
  Variables (d : nat) (L0 L1 : R) (f : vector -> R) (grad : vector -> vector).
  Hypothesis L0_nonnegative : 0 <= L0.
  Hypothesis L1_nonnegative : 0 <= L1.
  Hypothesis Smooth : relaxed_smooth d L0 L1 f grad.
  Variables (x D : vector).


  Let h t := grad (moved x t D).
  Let r := norm d D.

  Lemma at_start : f (moved x 0 D) = f x /\ forall i, (i < d)%nat -> h 0 i = grad x i.
  Proof.
    destruct Smooth as [hess [S _]]; apply S; intros i _; unfold moved; ring.
  Qed.

  Lemma norm_at_start : norm d (h 0) = norm d (grad x).
  Proof.
    unfold norm, inner; f_equal; apply sum_ext; intros i Hi.
    rewrite (proj2 at_start i Hi); reflexivity.
  Qed.

  (** The derivative of grad f along the step. *)
  Lemma gradient_changes : exists k : R -> vector,
    (forall t w, derivable_pt_lim (fun s => inner d (h s) w) t (inner d (k t) w)) /\
    (forall t, derivable_pt_lim (fun s => inner d (h s) (h s)) t (2 * inner d (k t) (h t))) /\
    (forall t, norm d (k t) <= (L0 + L1 * norm d (h t)) * r).
  Proof.
    destruct Smooth as [hess [_ [_ [H B]]]]; exists (fun t => hess (moved x t D) D).
    split; [|split; [|intro; apply B]].
    - intros t w; unfold inner.
      apply (sum_derivative d (fun i s => h s i * w i) (fun i s => hess (moved x s D) D i * w i)).
      intros i Hi.
      apply derivative_is with (hess (moved x t D) D i * w i + h t i * 0); [|ring].
      apply (derivable_pt_lim_mult (fun s => h s i) (fun _ => w i));
        [apply H; assumption | apply derivable_pt_lim_const].
    - intros t; unfold inner; rewrite <- sum_scal.
      apply (sum_derivative d (fun i s => h s i * h s i)
               (fun i s => 2 * (hess (moved x s D) D i * h s i))).
      intros i Hi.
      apply derivative_is with (hess (moved x t D) D i * h t i + h t i * hess (moved x t D) D i);
        [|ring].
      apply (derivable_pt_lim_mult (fun s => h s i) (fun s => h s i)); apply H; assumption.
  Qed.

  Lemma value_changes : forall t,
    derivable_pt_lim (fun s => f (moved x s D)) t (inner d (h t) D).
  Proof. destruct Smooth as [hess [_ [H _]]]; intro; apply H. Qed.

  (** Gronwall's inequality: L0 + L1 |grad f| grows at most by the factor e^(L1 |D|). *)
  Lemma gradient_grows : forall t, 0 <= t ->
    L0 + L1 * norm d (h t) <= (L0 + L1 * norm d (h 0)) * exp (L1 * r * t).
  Proof.
    intros t Ht; destruct gradient_changes as [k [_ [H B]]].
    assert (Pr : 0 <= r) by apply norm_nonnegative.
    (* |h| may be 0, where it has no derivative: that of sqrt(|h|^2 + e^2) *)
    assert (P : forall e, 0 < e ->
      L0 + L1 * norm d (h t) <= (L0 + L1 * (norm d (h 0) + e)) * exp (L1 * r * t)).
    { intros e He.
      set (n s := sqrt (inner d (h s) (h s) + e * e)).
      assert (N : forall s, 0 < n s /\ norm d (h s) <= n s).
      { intro s; pose proof (inner_square d (h s)); unfold n, norm; split;
          [apply sqrt_lt_R0; nra | apply sqrt_le_1_alt; nra]. }
      assert (N0 : n 0 <= norm d (h 0) + e).
      { unfold n; pose proof (norm_nonnegative d (h 0)) as Q0.
        rewrite <- (sqrt_Rsqr (norm d (h 0) + e)) by lra.
        apply sqrt_le_1_alt; rewrite <- norm_square; unfold Rsqr; nra. }
      set (n' s := / (2 * n s) * (2 * inner d (k s) (h s) + 0)).
      assert (Dn : forall s, derivable_pt_lim n s (n' s)).
      { intro s; unfold n, n'.
        apply (derivable_pt_lim_comp (fun s => inner d (h s) (h s) + e * e) sqrt).
        - apply (derivable_pt_lim_plus (fun s => inner d (h s) (h s)) (fun _ => e * e));
            [apply H | apply derivable_pt_lim_const].
        - apply derivable_pt_lim_sqrt; pose proof (inner_square d (h s)); nra. }
      assert (Bn : forall s, n' s <= (L0 + L1 * n s) * r).
      { intro s; destruct (N s) as [P1 P2]; unfold n'.
        pose proof (inner_at_most d (k s) (h s)) as C; specialize (B s).
        pose proof (norm_nonnegative d (h s)); pose proof (norm_nonnegative d (k s)).
        apply Rmult_le_reg_l with (r := n s); [assumption|].
        replace (n s * (/ (2 * n s) * (2 * inner d (k s) (h s) + 0))) with (inner d (k s) (h s))
          by (field; lra).
        assert (norm d (k s) <= (L0 + L1 * n s) * r).
        { apply Rle_trans with (1 := B); apply Rmult_le_compat_r; [assumption|]; nra. }
        apply Rle_trans with (1 := C).
        rewrite (Rmult_comm (n s)); apply Rmult_le_compat; assumption. }
      set (F s := - ((L0 + L1 * n s) * exp (- (L1 * r) * s))).
      assert (M : F 0 <= F t).
      { apply increases with (F' := fun s =>
          - (L1 * n' s * exp (- (L1 * r) * s)
             + (L0 + L1 * n s) * (exp (- (L1 * r) * s) * (- (L1 * r))))); [assumption| |].
        - intros s _; unfold F; apply derivable_pt_lim_opp.
          apply (derivable_pt_lim_mult (fun s => L0 + L1 * n s) (fun s => exp (- (L1 * r) * s))).
          + replace (L1 * n' s) with (0 + L1 * n' s) by ring.
            apply (derivable_pt_lim_plus (fun _ => L0) (fun s => L1 * n s));
              [apply derivable_pt_lim_const | apply derivable_pt_lim_scal, Dn].
          + apply (derivable_pt_lim_comp (fun s => - (L1 * r) * s) exp);
              [apply linear_derivative | apply derivable_pt_lim_exp].
        - intros s _; pose proof (exp_pos (- (L1 * r) * s)); specialize (Bn s).
          assert (L1 * n' s <= L1 * ((L0 + L1 * n s) * r)) by (apply Rmult_le_compat_l; assumption).
          nra. }
      unfold F in M; rewrite Rmult_0_r, exp_0 in M.
      assert (X : exp (- (L1 * r) * t) * exp (L1 * r * t) = 1)
        by (rewrite <- exp_plus, <- exp_0; f_equal; ring).
      pose proof (exp_pos (L1 * r * t)) as Y; pose proof (exp_pos (- (L1 * r) * t)) as Y'.
      destruct (N t) as [P1 P2].
      apply Rle_trans with (L0 + L1 * n t); [nra|].
      apply Rle_trans with (((L0 + L1 * n t) * exp (- (L1 * r) * t)) * exp (L1 * r * t));
        [rewrite Rmult_assoc, X; lra|].
      apply Rmult_le_compat_r; [lra|].
      apply Rle_trans with (L0 + L1 * n 0); [lra | nra]. }
    (* e to 0 *)
    apply le_epsilon; intros e He.
    pose proof (exp_pos (L1 * r * t)) as Y.
    destruct (Req_dec L1 0) as [Z|Z].
    - specialize (P 1 Rlt_0_1); rewrite Z in *; lra.
    - assert (L : 0 < L1) by lra.
      specialize (P (e / (L1 * exp (L1 * r * t)))).
      assert (Q : 0 < e / (L1 * exp (L1 * r * t))).
      { apply Rdiv_lt_0_compat; [assumption | apply Rmult_lt_0_compat; assumption]. }
      specialize (P Q).
      replace ((L0 + L1 * (norm d (h 0) + e / (L1 * exp (L1 * r * t)))) * exp (L1 * r * t))
        with ((L0 + L1 * norm d (h 0)) * exp (L1 * r * t) + e) in P by (field; lra).
      assumption.
  Qed.

  (** The growth of f in any direction, for |D| L1 <= T and [most] T^2 >= e^T - 1 - T. *)
  Lemma any_direction : forall T most, L1 * r <= T -> 0 <= T ->
    exp T - 1 - T <= most * (T * T) -> / 2 <= most ->
    f (moved x 1 D) <= f x + inner d (grad x) D + (L0 + L1 * norm d (grad x)) * most * (r * r).
  Proof.
    intros T most LT PT M M0.
    rewrite <- norm_at_start.
    destruct gradient_changes as [k [H [_ B]]].
    assert (Pr : 0 <= r) by apply norm_nonnegative.
    set (K := (L0 + L1 * norm d (h 0)) * (r * r)).
    assert (PK : 0 <= K).
    { unfold K; pose proof (norm_nonnegative d (h 0)); apply Rmult_le_pos; nra. }
    (* twice the integral of e^(T t) *)
    assert (A : exists a a' : R -> R,
      (forall t, derivable_pt_lim a t (a' t)) /\ (forall t, derivable_pt_lim a' t (exp (T * t))) /\
      a 0 = 0 /\ a' 0 = 0 /\ a 1 <= most).
    { destruct (Req_dec T 0) as [Z|Z].
      - exists (fun t => t * t * / 2), (fun t => t); rewrite Z; repeat split.
        + intro t; apply derivative_is with ((1 * t + t * 1) * / 2 + t * t * 0); [|field].
          apply (derivable_pt_lim_mult (fun s => s * s) (fun _ => / 2));
            [apply (derivable_pt_lim_mult (fun s => s) (fun s => s)); apply derivable_pt_lim_id
            | apply derivable_pt_lim_const].
        + intro t; rewrite Rmult_0_l, exp_0; apply derivable_pt_lim_id.
        + ring.
        + lra.
      - exists (fun t => / (T * T) * (exp (T * t) - (1 + T * t))), (fun t => / T * (exp (T * t) - 1)).
        assert (DE : forall t, derivable_pt_lim (fun s => exp (T * s)) t (exp (T * t) * T)).
        { intro t; apply (derivable_pt_lim_comp (fun s => T * s) exp);
            [apply linear_derivative | apply derivable_pt_lim_exp]. }
        repeat split.
        + intro t.
          apply derivative_is with (/ (T * T) * (exp (T * t) * T - (0 + T)));
            [|field; assumption].
          apply (derivable_pt_lim_scal (fun s => exp (T * s) - (1 + T * s))).
          apply (derivable_pt_lim_minus (fun s => exp (T * s)) (fun s => 1 + T * s)); [apply DE|].
          apply (derivable_pt_lim_plus (fun _ => 1) (fun s => T * s));
            [apply derivable_pt_lim_const | apply linear_derivative].
        + intro t.
          apply derivative_is with (/ T * (exp (T * t) * T - 0)); [|field; assumption].
          apply (derivable_pt_lim_scal (fun s => exp (T * s) - 1)).
          apply (derivable_pt_lim_minus (fun s => exp (T * s)) (fun _ => 1));
            [apply DE | apply derivable_pt_lim_const].
        + rewrite Rmult_0_r, exp_0; ring.
        + rewrite Rmult_0_r, exp_0; ring.
        + rewrite Rmult_1_r.
          assert (0 < T * T) by nra.
          apply Rmult_le_reg_l with (T * T); [assumption|].
          rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra; lra. }
    destruct A as [a [a' [Da [Da' [Z [Z' Last]]]]]].
    (* the slope *)
    assert (Slope : forall t, 0 <= t <= 1 -> inner d (h t) D <= inner d (h 0) D + K * a' t).
    { intros t [Ht Ht1].
      assert (I : K * a' 0 - inner d (h 0) D <= K * a' t - inner d (h t) D).
      { apply increases with (F := fun s => K * a' s - inner d (h s) D)
          (F' := fun s => K * exp (T * s) - inner d (k s) D); [assumption| |].
        - intros s _; apply (derivable_pt_lim_minus (fun s => K * a' s) (fun s => inner d (h s) D));
            [apply derivable_pt_lim_scal, Da' | apply H].
        - intros s [Hs0 Hst]; assert (Hs : 0 <= s) by lra.
          pose proof (inner_at_most d (k s) D) as C; fold r in C; specialize (B s).
          pose proof (gradient_grows s Hs) as Gs.
          assert (E : exp (L1 * r * s) <= exp (T * s)).
          { destruct (Rle_lt_or_eq_dec (L1 * r * s) (T * s)) as [Q|Q]; [nra| |].
            - left; apply exp_increasing; assumption.
            - rewrite Q; lra. }
          unfold K.
          assert (inner d (k s) D <= (L0 + L1 * norm d (h s)) * r * r).
          { apply Rle_trans with (1 := C); apply Rmult_le_compat_r; assumption. }
          assert ((L0 + L1 * norm d (h s)) * (r * r)
                  <= (L0 + L1 * norm d (h 0)) * exp (T * s) * (r * r)).
          { apply Rmult_le_compat_r; [nra|].
            apply Rle_trans with (1 := Gs); apply Rmult_le_compat_l; [|assumption].
            pose proof (norm_nonnegative d (h 0)); nra. }
          nra. }
      rewrite Z' in I; lra. }
    assert (I : K * a 0 + inner d (h 0) D * 0 - f (moved x 0 D)
                <= K * a 1 + inner d (h 0) D * 1 - f (moved x 1 D)).
    { apply increases with (F := fun s => K * a s + inner d (h 0) D * s - f (moved x s D))
        (F' := fun s => K * a' s + inner d (h 0) D - inner d (h s) D); [lra| |].
      - intros s _.
        apply (derivable_pt_lim_minus (fun s => K * a s + inner d (h 0) D * s)
                 (fun s => f (moved x s D))); [|apply value_changes].
        apply (derivable_pt_lim_plus (fun s => K * a s) (fun s => inner d (h 0) D * s)).
        + apply derivable_pt_lim_scal, Da.
        + apply linear_derivative.
      - intros s Hs; specialize (Slope s (conj (Rlt_le _ _ (proj1 Hs)) (Rlt_le _ _ (proj2 Hs)))); lra. }
    rewrite Z, (proj1 at_start) in I.
    assert (K * a 1 <= K * most) by (apply Rmult_le_compat_l; assumption).
    rewrite (inner_equal d (h 0) (grad x) D (proj2 at_start)) in I.
    unfold K in *; lra.
  Qed.
End Along.
