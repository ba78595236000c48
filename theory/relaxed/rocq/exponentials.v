(** * Exponentials against polynomials *)

(** The coefficients n!/k! of the first powers of e^x, times n!; and those of e^-x. *)
Fixpoint factors (n : nat) : poly :=
  match n with O => [1%Z] | S m => map (Z.mul (Z.of_nat n)) (factors m) ++ [1%Z] end.
Fixpoint alternate (sign : Z) (p : poly) : poly :=
  match p with [] => [] | a :: q => (sign * a)%Z :: alternate (- sign) q end.

Lemma eval_at_0 : forall p, eval p 0 = IZR (hd 0%Z p).
Proof. destruct p; simpl; ring. Qed.

(** p(x) e^(s x) increases if p' + s p is at least 0. *)
Lemma with_exponential : forall p s x, 0 <= x ->
  (forall t, 0 < t < x -> 0 <= eval (derivative p) t + s * eval p t) ->
  IZR (hd 0%Z p) <= eval p x * exp (s * x).
Proof.
  intros p s x Hx H; rewrite <- eval_at_0.
  replace (eval p 0) with (eval p 0 * exp (s * 0 + 0)) by (rewrite Rmult_0_r, Rplus_0_r, exp_0; ring).
  replace (exp (s * x)) with (exp (s * x + 0)) by (f_equal; ring).
  apply increases with (F := fun t => eval p t * exp (s * t + 0))
    (F' := fun t => eval (derivative p) t * exp (s * t + 0) + eval p t * (exp (s * t + 0) * s));
    [assumption | |].
  - intros t _; apply (product_derivative (eval p) (fun t => exp (s * t + 0)));
      [apply eval_derivative | apply exponential_derivative].
  - intros t Ht; specialize (H t Ht); pose proof (exp_pos (s * t + 0)).
    replace (eval (derivative p) t * exp (s * t + 0) + eval p t * (exp (s * t + 0) * s))
      with ((eval (derivative p) t + s * eval p t) * exp (s * t + 0)) by ring.
    apply Rmult_le_pos; lra.
Qed.

Lemma by_signs : forall p s x, no_sign (padd (derivative p) (pscale s p)) = true -> 0 <= x ->
  IZR (hd 0%Z p) <= eval p x * exp (IZR s * x).
Proof.
  intros p s x H Hx; apply with_exponential; [assumption|]; intros t Ht.
  apply no_sign_sound with (x := t) in H; [|lra]; rewrite eval_add, eval_scale in H; lra.
Qed.

(** e^-x from above and below, e^x from below. *)
Definition descending (n : nat) : poly := alternate 1 (factors n).

Lemma exp_of_opposite : forall x, exp x * exp (- x) = 1.
Proof. intro x; rewrite <- exp_plus, <- exp_0; f_equal; ring. Qed.

Lemma descending_above : forall x, 0 <= x ->
  IZR (hd 0%Z (descending 14)) * exp (- x) <= eval (descending 14) x.
Proof.
  intros x Hx.
  assert (H : IZR (hd 0%Z (descending 14)) <= eval (descending 14) x * exp (1 * x))
    by (apply (by_signs _ 1); [vm_compute; reflexivity | assumption]).
  rewrite Rmult_1_l in H; pose proof (exp_of_opposite x) as E; pose proof (exp_pos (- x)) as P.
  apply Rmult_le_compat_r with (r := exp (- x)) in H; [|lra].
  rewrite Rmult_assoc, E, Rmult_1_r in H; exact H.
Qed.

Lemma first_of_opposite : forall p, IZR (hd 0%Z (pscale (-1) p)) = - IZR (hd 0%Z p).
Proof. intros [|a p]; cbn [hd pscale map]; [ring | rewrite mult_IZR; ring]. Qed.

Lemma descending_below : forall n,
  let q := pscale (-1) (descending n) in no_sign (padd (derivative q) (pscale 1 q)) = true ->
  forall x, 0 <= x -> eval (descending n) x <= IZR (hd 0%Z (descending n)) * exp (- x).
Proof.
  intros n q S x Hx; pose proof (by_signs q 1 x S Hx) as H; unfold q in H.
  rewrite first_of_opposite, eval_scale, Rmult_1_l in H; pose proof (exp_of_opposite x) as E.
  pose proof (exp_pos (- x)) as P.
  apply Rmult_le_compat_r with (r := exp (- x)) in H; [|lra].
  rewrite Rmult_assoc, E, Rmult_1_r in H.
  lra.
Qed.

Lemma factors_below : forall n, no_sign (padd (derivative (pscale (-1) (factors n)))
    (pscale (-1) (pscale (-1) (factors n)))) = true ->
  forall x, 0 <= x -> eval (factors n) x <= IZR (hd 0%Z (factors n)) * exp x.
Proof.
  intros n S x Hx; pose proof (by_signs _ (-1) x S Hx) as H.
  rewrite eval_scale in H; pose proof (exp_of_opposite x) as E.
  pose proof (exp_pos x) as P.
  replace (IZR (-1) * x) with (- x) in H by ring.
  apply Rmult_le_compat_r with (r := exp x) in H; [|lra].
  rewrite Rmult_assoc, (Rmult_comm (exp (- x))), E, Rmult_1_r in H.
  rewrite first_of_opposite in H; lra.
Qed.

(** Euler's number, from below. *)
Definition euler : Z := fold_right Z.add 0%Z (factors 13).

Lemma euler_below : IZR euler < IZR (hd 0%Z (factors 13)) * exp 1.
Proof.
  assert (H : eval (factors 14) 1 <= IZR (hd 0%Z (factors 14)) * exp 1)
    by (apply factors_below; [vm_compute; reflexivity | lra]).
  assert (E : eval (factors 14) 1 = IZR (fold_right Z.add 0%Z (factors 14))).
  { generalize (factors 14); intro p; induction p as [|a p IH]; simpl; [ring|].
    rewrite IH, plus_IZR; ring. }
  rewrite E in H.
  assert (L : (14 * euler < fold_right Z.add 0 (factors 14))%Z) by (vm_compute; reflexivity).
  apply IZR_lt in L; rewrite mult_IZR in L.
  assert (F : hd 0%Z (factors 14) = (14 * hd 0 (factors 13))%Z) by (vm_compute; reflexivity).
  rewrite F, mult_IZR in H; lra.
Qed.

(** The polynomial above e^x for x <= top < 15: with the power 15 times 15/(15 - top). *)
Definition ascending (top : Q) : poly :=
  let c := Zpos (Qden top) in
  map (Z.mul (15 * c - Qnum top)) (removelast (factors 15)) ++ [(15 * c)%Z].

(** Whether most top^2 >= e^top - 1 - top, and most >= 1/2. *)
Definition at_most (top most : Q) : bool :=
  let p := ascending top in
  let a := hd 0%Z p in
  Qle_bool 0 top && Z.ltb 0 a && Qle_bool (1 # 2) most
  && nonnegative_on {| low := 0; high := Some top |} (psub (derivative p) p)
  && nonnegative_on {| low := top; high := Some top |}
       (psub (pscale (Qnum most * a) [0; 0; 1]%Z) (pscale (Zpos (Qden most)) (psub p [a; a]))).

Lemma at_most_sound : forall top most, at_most top most = true ->
  0 <= Q2R top /\ / 2 <= Q2R most /\
  exp (Q2R top) - 1 - Q2R top <= Q2R most * (Q2R top * Q2R top).
Proof.
  intros top most H; unfold at_most in H; set (p := ascending top) in *.
  repeat (apply andb_prop in H; destruct H as [H ?]).
  match goal with U : Qle_bool (1 # 2) most = true |- _ => apply Qle_bool_imp_le, Qle_Rle in U;
    replace (Q2R (1 # 2)) with (/ 2) in U by (unfold Q2R; simpl; field) end.
  apply Qle_bool_imp_le, Qle_Rle in H; rewrite RMicromega.Q2R_0 in H.
  split; [assumption | split; [assumption|]].
  match goal with U : Z.ltb 0 _ = true |- _ => apply Z.ltb_lt, IZR_lt in U end.
  assert (E : IZR (hd 0%Z p) <= eval p (Q2R top) * exp (-1 * Q2R top)).
  { apply with_exponential; [assumption|]; intros t Ht.
    match goal with U : nonnegative_on {| low := 0; high := _ |} _ = true |- _ =>
      apply nonnegative_on_sound with (x := t) in U; [rewrite eval_sub in U; lra|] end.
    right; simpl; rewrite RMicromega.Q2R_0; lra. }
  pose proof (exp_of_opposite (Q2R top)) as X; pose proof (exp_pos (Q2R top)) as P.
  replace (-1 * Q2R top) with (- Q2R top) in E by ring.
  assert (E' : IZR (hd 0%Z p) * exp (Q2R top) <= eval p (Q2R top)).
  { apply Rmult_le_compat_r with (r := exp (Q2R top)) in E; [|lra].
    rewrite Rmult_assoc, (Rmult_comm (exp (- _))), X, Rmult_1_r in E; exact E. }
  match goal with U : nonnegative_on {| low := top; high := _ |} _ = true |- _ =>
    apply nonnegative_on_sound with (x := Q2R top) in U; [|left; simpl; split; reflexivity];
    rewrite eval_sub, !eval_scale, eval_sub, mult_IZR in U; cbn [eval] in U end.
  assert (Pd : 0 < IZR (Zpos (Qden most))) by (apply IZR_lt; reflexivity).
  assert (Em : IZR (Qnum most) = Q2R most * IZR (Zpos (Qden most)))
    by (rewrite Q2R_as_quotient; field; lra).
  rewrite Em in *; set (a := IZR (hd 0%Z p)) in *.
  apply Rmult_le_reg_l with (IZR (Zpos (Qden most)) * a); [apply Rmult_lt_0_compat; assumption|].
  assert (IZR (Zpos (Qden most)) * (a * exp (Q2R top)) <= IZR (Zpos (Qden most)) * eval p (Q2R top))
    by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Lemma exp_of_minus_2z : forall z, 0 <= z -> 1 - z <= (1 + z) * exp (-2 * z).
Proof.
  intros z Hz.
  assert (I : (1 + 0) * exp (-2 * 0 + 0) + -1 * (1 - 0) <= (1 + z) * exp (-2 * z + 0) + -1 * (1 - z)).
  { apply increases with (F := fun t => (1 + t) * exp (-2 * t + 0) + -1 * (1 - t))
      (F' := fun t => ((0 + 1) * exp (-2 * t + 0) + (1 + t) * (exp (-2 * t + 0) * -2)) + -1 * (0 - 1));
      [assumption | |].
    - intros t _; apply (sum_of_two_derivative (fun t => (1 + t) * exp (-2 * t + 0)) (fun t => -1 * (1 - t))).
      + apply (product_derivative (fun t => 1 + t) (fun t => exp (-2 * t + 0)));
          [|apply exponential_derivative].
        apply (sum_of_two_derivative (fun _ => 1) (fun t => t));
          [apply derivable_pt_lim_const | apply derivable_pt_lim_id].
      + apply (derivable_pt_lim_scal (fun t => 1 - t)).
        apply (derivable_pt_lim_minus (fun _ => 1) (fun t => t));
          [apply derivable_pt_lim_const | apply derivable_pt_lim_id].
    - intros t Ht; pose proof (exp_at_least (2 * t)) as E.
      replace (-2 * t + 0) with (- (2 * t)) by ring.
      pose proof (exp_of_opposite (2 * t)) as X; pose proof (exp_pos (- (2 * t))) as P.
      assert ((1 + 2 * t) * exp (- (2 * t)) <= exp (2 * t) * exp (- (2 * t)))
        by (apply Rmult_le_compat_r; lra).
      lra. }
  replace (-2 * 0 + 0) with 0 in I by ring; rewrite exp_0 in I.
  replace (-2 * z + 0) with (-2 * z) in I by ring; lra.
Qed.

Lemma ln_monotone : forall a b, 0 < a -> a <= b -> ln a <= ln b.
Proof. intros a b P [L| ->]; [left; apply ln_increasing; assumption | lra]. Qed.
