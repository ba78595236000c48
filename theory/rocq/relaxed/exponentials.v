From Certibit.relaxed Require Export turning polynomials.
Local Open Scope R_scope.

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


(** The bounds of e^-T that are used: of e^-T, of (1 - e^-T)/T, and of (e^-T - 1 + T)/T^2. *)
Definition fourteen : positive := Z.to_pos (hd 0%Z (descending 14)).
Definition thirteen : positive := Z.to_pos (hd 0%Z (descending 13)).
Definition seven : positive := Z.to_pos (hd 0%Z (descending 7)).

Lemma quotient_at_most : forall a c y, 0 < a -> c * a <= y -> c <= y / a.
Proof.
  intros a c y P H; apply Rmult_le_reg_r with (1 := P).
  replace (y / a * a) with y by (field; lra); exact H.
Qed.

Lemma bounds_of_exp : forall T, 0 <= T ->
  let e := exp (- T) in
  e <= eval (descending 14) T / IZR (Zpos fourteen) /\
  1 - e <= T * (eval (pscale (-1) (skipn 1 (descending 13))) T / IZR (Zpos thirteen)) /\
  e - 1 + T <= T * T * (eval (skipn 2 (descending 14)) T / IZR (Zpos fourteen)) /\
  eval (descending 7) T / IZR (Zpos seven) <= e.
Proof.
  intros T HT e.
  assert (P : forall c, 0 < IZR (Zpos c)) by (intro; apply IZR_lt; reflexivity).
  pose proof (P fourteen); pose proof (P thirteen); pose proof (P seven).
  pose proof (descending_above T HT) as A.
  change (hd 0%Z (descending 14)) with (Zpos fourteen) in A; fold e in A.
  assert (S : descending 14 = Zpos fourteen :: (- Zpos fourteen)%Z :: skipn 2 (descending 14))
    by (vm_compute; reflexivity).
  assert (S' : descending 13 = Zpos thirteen :: skipn 1 (descending 13)) by (vm_compute; reflexivity).
  split; [apply quotient_at_most; lra | split; [|split]].
  - pose proof (descending_below 13 ltac:(vm_compute; reflexivity) T HT) as B; fold e in B.
    rewrite S' in B; cbn [eval hd] in B; rewrite eval_scale.
    replace (T * (-1 * eval (skipn 1 (descending 13)) T / IZR (Zpos thirteen)))
      with (- (T * eval (skipn 1 (descending 13)) T) / IZR (Zpos thirteen)) by (field; lra).
    apply quotient_at_most; lra.
  - rewrite S in A; cbn [eval] in A; rewrite opp_IZR in A.
    replace (T * T * (eval (skipn 2 (descending 14)) T / IZR (Zpos fourteen)))
      with (T * T * eval (skipn 2 (descending 14)) T / IZR (Zpos fourteen)) by (field; lra).
    apply quotient_at_most; lra.
  - pose proof (descending_below 7 ltac:(vm_compute; reflexivity) T HT) as B; fold e in B.
    change (hd 0%Z (descending 7)) with (Zpos seven) in B.
    apply Rmult_le_reg_r with (IZR (Zpos seven)); [assumption|].
    replace (eval (descending 7) T / IZR (Zpos seven) * IZR (Zpos seven)) with (eval (descending 7) T)
      by (field; lra).
    lra.
Qed.

(** w e^(-1 - y) from above, by the first powers of e^y and of e. *)
Lemma below_slope : forall w y, 0 < w -> 0 <= y ->
  let W := w * w * w * w * eval (factors 4) y in
  0 < W * IZR euler /\
  w * exp (- 1 - y) < w * w * w * w * w * (24 * IZR (hd 0%Z (factors 13))) / (W * IZR euler).
Proof.
  intros w y Pw Py W.
  pose proof (Rmult_lt_0_compat _ _ Pw Pw) as Pw2.
  pose proof (Rmult_lt_0_compat _ _ (Rmult_lt_0_compat _ _ Pw2 Pw) Pw) as Pw4.
  assert (Pe : 0 < IZR euler) by (apply IZR_lt; vm_compute; reflexivity).
  pose proof euler_below as Be; set (F := IZR (hd 0%Z (factors 13))) in *.
  assert (PW : 0 < W /\ W <= 24 * (w * w * w * w) * exp y).
  { pose proof (factors_below 4 ltac:(vm_compute; reflexivity) y Py) as B.
    change (hd 0%Z (factors 4)) with 24%Z in B; unfold W; split; [|nra].
    apply Rmult_lt_0_compat; [assumption|].
    change (factors 4) with [24; 24; 12; 4; 1]%Z; cbn [eval].
    assert (0 <= y * (24 + y * (12 + y * (4 + y * (1 + y * 0))))); [|lra].
    repeat (apply Rmult_le_pos; [assumption|]; apply Rplus_le_le_0_compat; [lra|]).
    rewrite Rmult_0_r; lra. }
  destruct PW as [PW WB].
  assert (PWe : 0 < W * IZR euler) by (apply Rmult_lt_0_compat; assumption).
  split; [assumption|]; apply Rmult_lt_reg_r with (1 := PWe).
  replace (w * w * w * w * w * (24 * F) / (W * IZR euler) * (W * IZR euler))
    with (w * w * w * w * w * (24 * F)) by (field; split; lra).
  pose proof (exp_pos (- 1 - y)) as Pm.
  assert (X : exp (- 1 - y) * (exp y * exp 1) = 1)
    by (rewrite <- !exp_plus; replace (- 1 - y + (y + 1)) with 0 by ring; apply exp_0).
  apply Rlt_le_trans with (w * exp (- 1 - y) * (24 * (w * w * w * w) * exp y * (F * exp 1))).
  - apply Rmult_lt_compat_l; [apply Rmult_lt_0_compat; assumption|].
    apply Rlt_le_trans with (W * (F * exp 1)); [apply Rmult_lt_compat_l; assumption|].
    apply Rmult_le_compat_r; [lra | assumption].
  - right; replace (w * exp (- 1 - y) * (24 * (w * w * w * w) * exp y * (F * exp 1)))
      with (w * w * w * w * w * (24 * F) * (exp (- 1 - y) * (exp y * exp 1))) by ring.
    rewrite X; ring.
Qed.

(** The condition of [against_gradient] from u <= (L0 + L1 G) e^-T1 - L0 and y = (u + L0) E/4. *)
Lemma short_enough : forall L0 L1 G e E u t, 0 <= L0 -> 0 < L1 -> 0 < G -> 0 <= E ->
  L1 * G * exp (- 1 - L0 / (L1 * G)) < t -> t <= u -> u + L0 <= (L0 + L1 * G) * e ->
  let y := (u + L0) * E * (1 / 4) in
  E = 0 \/ y <= u /\ t * ((u + y) * (u + y)) <= u * ((u - y) * (u - y)) ->
  let kappa := L0 / L1 in
  let U := (kappa + G) * e - kappa in
  0 < U /\ 0 < 1 - E - E * kappa / U + kappa / G - ln G + ln U.
Proof.
  intros L0 L1 G e E u t P0 P1 PG PE Pt Tu Ue y C kappa U.
  set (w := L1 * G) in *.
  assert (Pw : 0 < w) by (unfold w; apply Rmult_lt_0_compat; assumption).
  pose proof (exp_pos (- 1 - L0 / w)) as Px.
  pose proof (Rmult_lt_0_compat _ _ Pw Px) as Pwx.
  assert (Pu : 0 < u) by lra.
  assert (LU : u <= L1 * U).
  { unfold U, kappa; replace (L1 * ((L0 / L1 + G) * e - L0 / L1)) with ((L0 + w) * e - L0)
      by (unfold w; field; lra).
    lra. }
  assert (PU : 0 < U) by (apply Rmult_lt_reg_l with L1; lra).
  split; [assumption|].
  set (z := y / u).
  assert (Ez : 4 * z = E + E * (L0 / u)) by (unfold z, y; field; lra).
  assert (Pz : 0 <= z).
  { assert (0 <= E * (L0 / u)); [|lra].
    apply Rmult_le_pos; [assumption|]; apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; assumption]. }
  assert (Uz : t <= u * exp (-4 * z)).
  { destruct C as [Z|[Yu C]].
    { assert (Z0 : z = 0) by (unfold z, y; rewrite Z; field; lra).
      rewrite Z0, Rmult_0_r, exp_0; lra. }
    assert (Ey : y = z * u) by (unfold z; field; lra).
    pose proof (exp_of_minus_2z z Pz) as X.
    assert (X1 : z <= 1) by (apply Rmult_le_reg_r with u; lra).
    assert (P : 0 < (1 + z) * (1 + z)) by (apply Rmult_lt_0_compat; lra).
    assert (C4 : t * ((1 + z) * (1 + z)) <= u * ((1 - z) * (1 - z))).
    { apply Rmult_le_reg_r with (u * u); [apply Rmult_lt_0_compat; assumption|]; rewrite Ey in C; lra. }
    assert (X2 : (1 - z) * (1 - z) <= (1 + z) * (1 + z) * exp (-4 * z)).
    { replace (exp (-4 * z)) with (exp (-2 * z) * exp (-2 * z)) by (rewrite <- exp_plus; f_equal; ring).
      replace ((1 + z) * (1 + z) * (exp (-2 * z) * exp (-2 * z)))
        with ((1 + z) * exp (-2 * z) * ((1 + z) * exp (-2 * z))) by ring.
      apply Rmult_le_compat; lra. }
    assert (X3 : u * ((1 - z) * (1 - z)) <= u * ((1 + z) * (1 + z) * exp (-4 * z)))
      by (apply Rmult_le_compat_l; lra).
    apply Rmult_le_reg_r with (1 := P); lra. }
  assert (L : ln w + (- 1 - L0 / w + 4 * z) < ln (L1 * U)).
  { replace (ln w + (- 1 - L0 / w + 4 * z)) with (ln (w * exp (- 1 - L0 / w) * exp (4 * z))).
    - apply ln_increasing; [apply Rmult_lt_0_compat; [assumption | apply exp_pos]|].
      apply Rlt_le_trans with (t * exp (4 * z));
        [apply Rmult_lt_compat_r; [apply exp_pos | assumption]|].
      apply Rle_trans with (u * exp (-4 * z) * exp (4 * z));
        [apply Rmult_le_compat_r; [left; apply exp_pos | assumption]|].
      rewrite Rmult_assoc, <- exp_plus; replace (-4 * z + 4 * z) with 0 by ring.
      rewrite exp_0, Rmult_1_r; assumption.
    - rewrite !ln_mult, !ln_exp; try apply exp_pos; try assumption; ring. }
  unfold w in L; rewrite !ln_mult in L by assumption; fold w in L.
  assert (Y1 : L0 / w = kappa / G) by (unfold kappa, w; field; split; lra).
  assert (Y2 : E * kappa / U <= E * (L0 / u)).
  { replace (E * kappa / U) with (E * (L0 / (L1 * U))) by (unfold kappa; field; split; lra).
    apply Rmult_le_compat_l; [assumption|]; unfold Rdiv; apply Rmult_le_compat_l; [assumption|].
    apply Rinv_le_contravar; assumption. }
  lra.
Qed.
