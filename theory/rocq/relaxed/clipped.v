From Certibit.relaxed Require Export decreases.
Local Open Scope R_scope.

(** * Clipped gradient descent, x+ = x - min(eta, gamma/G) grad f(x) *)

Definition clipped_decreases (L0 L1 eta gamma c : Q) : Prop :=
  forall d f grad, relaxed_smooth d (Q2R L0) (Q2R L1) f grad -> forall x,
  let G := norm d (grad x) in
  let step := if Rle_dec (Q2R eta * G) (Q2R gamma) then Q2R eta else Q2R gamma / G in
  f (moved x 1 (fun i => - step * grad x i))
    <= f x - Q2R c * Rmin (Q2R eta * (G * G)) (Q2R gamma * G).

(** Whether the step of a regime is that one. *)
Definition only_clips (eta gamma : Q) (r : regime) : bool :=
  positive_on (where_ r) (base r) && alone r
  && Qle_bool 0 (reach r) && Qle_bool 0 (spread r) && Qle_bool 0 (fresh_square r)
  && (is_zero (num (rsub (base r) (along r) (number eta)))
      && match high (where_ r) with None => false | Some b => Qle_bool (eta * b) gamma end
      || is_zero (num (rsub (base r) (rmul (along r) variable) (number gamma)))
         && Qle_bool gamma (eta * low (where_ r))).

Theorem clipped_sound : forall L0 L1 eta gamma c regimes,
  decreases L0 L1 eta gamma c 0 regimes ->
  is_positive eta && is_positive gamma && forallb (only_clips eta gamma) regimes = true ->
  clipped_decreases L0 L1 eta gamma c.
Proof.
  intros L0 L1 eta gamma c regimes [Covered Decreases] H d f grad Smooth x G step.
  rewrite !andb_true_iff in H; destruct H as [[Pe Pg] H]; rewrite forallb_forall in H.
  assert (Pos : forall q, is_positive q = true -> 0 < Q2R q).
  { intros q Hq; unfold is_positive in Hq; apply negb_true_iff in Hq.
    rewrite <- RMicromega.Q2R_0; apply Qlt_Rlt, Qnot_le_lt; intro N.
    apply Qle_bool_iff in N; rewrite N in Hq; discriminate. }
  apply Pos in Pe; apply Pos in Pg; clear Pos.
  assert (PG : 0 <= G) by apply norm_nonnegative.
  destruct (Covered G (fun _ => true) PG) as [r [Hr [Lies _]]].
  specialize (H r Hr); unfold only_clips in H; rewrite !andb_true_iff in H.
  destruct H as [[[[[Base A] R0] S0] F0] Step].
  assert (Le : forall p q, Qle_bool p q = true -> Q2R p <= Q2R q)
    by (intros p q Hq; apply Qle_Rle, Qle_bool_imp_le, Hq).
  apply Le in R0; apply Le in S0; apply Le in F0; rewrite RMicromega.Q2R_0 in R0, S0, F0.
  pose proof (positive_on_sound _ _ _ Base Lies) as Pb.
  assert (Zero : forall q, is_zero (num q) = true -> at_slope r q G = 0)
    by (intros q Hq; unfold at_slope, value; rewrite is_zero_sound by assumption; unfold Rdiv; ring).
  unfold alone in A; rewrite !andb_true_iff in A; destruct A as [[[A1 A2] A3] _].
  apply Zero in A1; apply Zero in A2; apply Zero in A3.
  assert (Along : at_slope r (along r) G * G = step * G).
  { apply orb_prop in Step; rewrite !andb_true_iff in Step.
    destruct Step as [[Z B]|[Z B]]; apply Zero in Z; unfold at_slope in *;
      rewrite value_sub, value_number in Z by assumption; unfold step, lies in *.
    - destruct (high (where_ r)) as [b|]; [|discriminate]; apply Le in B; rewrite Q2R_mult in B.
      destruct (Rle_dec (Q2R eta * G) (Q2R gamma)) as [L|L]; [f_equal; lra|].
      exfalso; apply L, Rle_trans with (2 := B); apply Rmult_le_compat_l; lra.
    - rewrite value_mul, value_variable in Z by assumption; apply Le in B; rewrite Q2R_mult in B.
      assert (LG : Q2R (low (where_ r)) <= G) by (destruct (high (where_ r)); lra).
      assert (E : Q2R gamma <= Q2R eta * G)
        by (apply Rle_trans with (1 := B); apply Rmult_le_compat_l; lra).
      assert (PG' : 0 < G) by (apply Rmult_lt_reg_l with (Q2R eta); lra).
      destruct (Rle_dec (Q2R eta * G) (Q2R gamma)) as [L|L]; [lra|].
      replace (Q2R gamma / G * G) with (Q2R gamma) by (field; lra); lra. }
  set (o := {| weight := 1; fresh := fun _ => 0; answered := fun _ => 0; unit_ := fun _ => 0;
               own := fun _ => 0 |}).
  assert (Nothing : forall v, inner d (fun _ => 0) v = 0).
  { intro v; unfold inner; rewrite sum_scal; ring. }
  assert (None_ : norm d (fun _ => 0) = 0) by (unfold norm; rewrite Nothing; apply sqrt_0).
  assert (S : step_of r d (grad x) [o]).
  { intros _; unfold mean; cbn [fold_right weight fresh o].
    split; [ring | split; [intro v; rewrite Nothing; ring | split; [rewrite Nothing; lra|]]].
    intros p [<-|[]]; cbn [weight fresh answered unit_ own o]; fold G.
    rewrite None_, Nothing, A1, A2, A3; repeat split; lra. }
  specialize (Decreases d f grad Smooth x r [o] Hr Lies S); fold G in Decreases.
  unfold mean in Decreases; cbn [fold_right weight o] in Decreases.
  rewrite RMicromega.Q2R_0, !Rplus_0_r, Rmult_1_l in Decreases.
  apply Rle_trans with (2 := Decreases); right; destruct Smooth as [_ [Ext _]].
  apply Ext; intros i Hi; unfold moved, displacement; cbn [fresh answered unit_ own o]; fold G.
  rewrite A2.
  destruct (Req_dec G 0) as [Z|Z].
  - rewrite (nothing d (grad x) (Req_le _ _ Z) i Hi); ring.
  - apply Rmult_eq_reg_r in Along; [|assumption]; rewrite Along; ring.
Qed.
