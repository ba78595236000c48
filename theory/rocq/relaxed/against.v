From Certibit.relaxed Require Export turning exponentials.
Local Open Scope R_scope.

(** A step against the gradient that is not too long: how f decreases, and the slope at its end. *)
Lemma first_part : forall d L0 L1 f grad, 0 <= L0 -> 0 < L1 ->
  relaxed_smooth d L0 L1 f grad -> forall x a E, 0 < a -> 0 <= E ->
  let G := norm d (grad x) in
  let kappa := L0 / L1 in
  let T := L1 * (a * G) in
  let U := (kappa + G) * exp (- T) - kappa in
  let D := fun i => - a * grad x i in
  0 < G -> T + E <= 1 -> 0 < U -> 0 < 1 - E - E * kappa / U + kappa / G - ln G + ln U ->
  f (moved x 1 D) <= f x + a * G * (kappa - (kappa + G) / T * (1 - exp (- T))) /\
  (1 - E) * ((kappa + G) * exp (- T)) - kappa
    <= inner d (grad (moved x 1 D)) (grad x) / G - E * (kappa + norm d (grad (moved x 1 D))).
Proof.
  intros d L0 L1 f grad P0 P1 Smooth x a E0' Pa PE G kappa T U D PG Short PU Condition.
  assert (HT : 0 < T) by (unfold T; apply Rmult_lt_0_compat; [|apply Rmult_lt_0_compat]; assumption).
  set (h t := grad (moved x t D)).
  destruct (gradient_changes d L0 L1 f grad Smooth x D) as [k [Hk [Hkk B]]].
  fold h in Hk, Hkk, B.
  pose proof (norm_at_start d L0 L1 f grad Smooth x D) as S0; fold G in S0.
  destruct (at_start d L0 L1 f grad Smooth x D) as [F0 H0].
  assert (Er : norm d D = a * G).
  { unfold G, norm, D.
    replace (inner d _ _) with (a * a * inner d (grad x) (grad x))
      by (unfold inner; rewrite <- sum_scal; apply sum_ext; intros; ring).
    rewrite sqrt_mult_alt, sqrt_square by (lra || apply Rle_0_sqr); reflexivity. }
  rewrite Er in B.
  assert (Pk : 0 <= kappa)
    by (unfold kappa; apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat]; assumption).
  assert (E0 : L0 = L1 * kappa) by (unfold kappa; field; lra).
  set (rho t := norm d (h t)).
  set (xi t := / G * inner d (h t) (grad x)).
  assert (Late : forall E e, 0 <= e <= 1 -> 0 <= E -> T + E <= 1 ->
    0 < 1 - E - E * kappa / U + kappa / G - ln G + ln U ->
    (1 - E) * ((kappa + G) * exp (- T * e)) - kappa <= xi e - E * (kappa + rho e)).
  { intros E e He PE' Short' C.
    apply turns_late with (rho := rho) (rho' := fun t => inner d (k t) (h t) / rho t)
      (xi' := fun t => inner d (k t) (grad x) / G); try assumption.
    - split; [unfold rho, h; exact S0|].
      unfold xi, h; rewrite (inner_equal d _ (grad x) _ H0), <- norm_square; fold G; field; lra.
    - intros t _ Pr; unfold rho, norm.
      apply derivative_is with (/ (2 * norm d (h t)) * (2 * inner d (k t) (h t)));
        [|unfold rho, norm in *; field; lra].
      apply (derivable_pt_lim_comp (fun s => inner d (h s) (h s)) sqrt); [apply Hkk|].
      unfold norm; apply derivable_pt_lim_sqrt.
      unfold rho in Pr; rewrite <- norm_square; apply Rmult_lt_0_compat; assumption.
    - intros t _; unfold xi.
      apply derivative_is with (/ G * inner d (k t) (grad x)); [|field; lra].
      apply (derivable_pt_lim_scal (fun s => inner d (h s) (grad x))), Hk.
    - intros t Ht; unfold rho, h.
      pose proof (gradient_falls d L0 L1 f grad P0 (Rlt_le _ _ P1) Smooth x D t (proj1 Ht)) as F.
      fold G in F; rewrite Er in F.
      assert (X : exp (- T * t) * exp (T * t) = 1) by (rewrite <- exp_plus, <- exp_0; f_equal; ring).
      assert (Y : 0 < exp (- T * t)) by apply exp_pos.
      apply Rmult_le_reg_l with L1; [assumption|].
      apply Rle_trans with ((L0 + L1 * G) * exp (- T * t)); [rewrite E0; right; ring|].
      apply Rle_trans with ((L0 + L1 * norm d (grad (moved x t D))) * exp (T * t) * exp (- T * t)).
      + apply Rmult_le_compat_r; [lra|]; exact F.
      + rewrite Rmult_assoc, (Rmult_comm (exp (T * t))), X, E0; right; ring.
    - intros t _ Pr.
      assert (Pw : 0 < T * (kappa + rho t)) by (apply Rmult_lt_0_compat; lra).
      set (v := fun i => / (T * (kappa + rho t)) * k t i + 0 * k t i).
      assert (Ev : forall w, inner d v w = inner d (k t) w / (T * (kappa + rho t)))
        by (intro w; unfold v; rewrite inner_combined; field; lra).
      assert (Bv : norm d v <= 1).
      { apply Rle_trans with (1 := norm_combined d _ _ _ _); rewrite Rabs_R0, Rmult_0_l, Rplus_0_r.
        rewrite Rabs_pos_eq by (left; apply Rinv_0_lt_compat; assumption).
        apply Rmult_le_reg_l with (T * (kappa + rho t)); [assumption|].
        rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra.
        apply Rle_trans with (1 := B t); right; rewrite E0.
        change (norm d (grad (moved x t D))) with (rho t); unfold T; ring. }
      pose proof (turning d (h t) (grad x) v Pr PG Bv) as Q; cbv zeta in Q.
      rewrite !Ev in Q; fold G in Q.
      replace (inner d (k t) (h t) / rho t / (T * (kappa + rho t)))
        with (inner d (k t) (h t) / (T * (kappa + rho t)) / norm d (h t))
        by (unfold rho in *; field; repeat split; lra).
      replace (xi t / rho t) with (inner d (h t) (grad x) / (norm d (h t) * G))
        by (unfold xi, rho in *; field; repeat split; lra).
      replace (inner d (k t) (grad x) / G / (T * (kappa + rho t)))
        with (inner d (k t) (grad x) / (T * (kappa + rho t)) / G)
        by (field; repeat split; lra).
      exact Q.
    - split; assumption. }
  assert (Slope : forall t, 0 <= t <= 1 -> (kappa + G) * exp (- T * t) - kappa <= xi t).
  { intros t Ht; pose proof (Late 0 t Ht) as S.
    assert (0 <= E0' * kappa / U).
    { apply Rmult_le_pos; [apply Rmult_le_pos; assumption | left; apply Rinv_0_lt_compat; assumption]. }
    assert (Z : 0 * kappa / U = 0) by (field; lra).
    rewrite Z in S; lra. }
  assert (I : a * G * (kappa * 0 + (kappa + G) / T * exp (- T * 0)) - f (moved x 0 D)
              <= a * G * (kappa * 1 + (kappa + G) / T * exp (- T * 1)) - f (moved x 1 D)).
  { apply increases with
      (F := fun t => a * G * (kappa * t + (kappa + G) / T * exp (- T * t)) - f (moved x t D))
      (F' := fun t => a * G * (kappa + (kappa + G) / T * (exp (- T * t) * - T)) - inner d (h t) D);
      [lra| |].
    - intros t _.
      apply (derivable_pt_lim_minus
        (fun t => a * G * (kappa * t + (kappa + G) / T * exp (- T * t))) (fun t => f (moved x t D)));
        [|apply (value_changes d L0 L1 f grad Smooth x D)].
      apply (derivable_pt_lim_scal (fun t => kappa * t + (kappa + G) / T * exp (- T * t))).
      apply (sum_of_two_derivative (fun t => kappa * t)); [apply linear_derivative|].
      apply (derivable_pt_lim_scal (fun t => exp (- T * t))).
      apply (derivable_pt_lim_comp (fun t => - T * t) exp);
        [apply linear_derivative | apply derivable_pt_lim_exp].
    - intros t Ht; assert (Ht' : 0 <= t <= 1) by lra; specialize (Slope t Ht').
      assert (E : inner d (h t) D = - (a * G * xi t)).
      { unfold xi, D; rewrite inner_symmetric.
        replace (inner d (fun i => - a * grad x i) (h t)) with (- a * inner d (grad x) (h t))
          by (unfold inner; rewrite <- sum_scal; apply sum_ext; intros; ring).
        rewrite inner_symmetric; field; lra. }
      rewrite E.
      replace ((kappa + G) / T * (exp (- T * t) * - T)) with (- ((kappa + G) * exp (- T * t)))
        by (field; lra).
      assert (0 <= a * G) by (apply Rmult_le_pos; lra).
      assert (0 <= a * G * (xi t - ((kappa + G) * exp (- T * t) - kappa)))
        by (apply Rmult_le_pos; lra).
      lra. }
  rewrite F0, !Rmult_0_r, exp_0, !Rmult_1_r in I.
  split; [lra|].
  pose proof (Late E0' 1 (conj Rle_0_1 (Rle_refl 1)) PE Short Condition) as S.
  rewrite Rmult_1_r in S; unfold xi, rho, h in S; unfold Rdiv; rewrite Rmult_comm with (r2 := / G).
  exact S.
Qed.

(** The growth of f along a step against the gradient: a part q of it as if the gradient did not
    turn, if that is short enough, and the rest in any direction. *)
Lemma against_gradient : forall d L0 L1 f grad, 0 <= L0 -> 0 < L1 ->
  relaxed_smooth d L0 L1 f grad -> forall x a q top most, 0 < a -> 0 < q <= 1 ->
  let G := norm d (grad x) in
  let kappa := L0 / L1 in
  let T := L1 * (a * G) in
  let T1 := q * T in
  let T2 := (1 - q) * T in
  let E := most * T2 in
  let U := (kappa + G) * exp (- T1) - kappa in
  0 <= top -> T2 <= top -> exp top - 1 - top <= most * (top * top) -> / 2 <= most ->
  0 < G -> T1 + E <= 1 -> 0 < U -> 0 < 1 - E - E * kappa / U + kappa / G - ln G + ln U ->
  f (moved x 1 (fun i => - a * grad x i))
    <= f x - a * (G * G) + (L0 + L1 * G) / (L1 * L1)
       * ((exp (- T1) - 1 + T1) + (1 - exp (- T1)) * T2 + exp (- T1) * (most * (T2 * T2))).
Proof.
  intros d L0 L1 f grad P0 P1 Smooth x a q top most Pa Pq G kappa T T1 T2 E U
    Ptop Top Most Half PG Short PU Condition.
  assert (Paq : 0 < q * a) by (apply Rmult_lt_0_compat; lra).
  assert (PT : 0 < T) by (unfold T; apply Rmult_lt_0_compat; [|apply Rmult_lt_0_compat]; assumption).
  assert (PE : 0 <= E) by (unfold E, T2; apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]).
  assert (ET : L1 * (q * a * G) = T1) by (unfold T1, T; ring).
  pose proof (first_part d L0 L1 f grad P0 P1 Smooth x (q * a) E Paq PE) as F; cbv zeta in F.
  fold G kappa in F; rewrite ET in F; fold U in F.
  destruct (F PG Short PU Condition) as [F1 F2]; clear F.
  set (x1 := moved x 1 (fun i => - (q * a) * grad x i)) in *.
  set (D2 := fun i => - ((1 - q) * a) * grad x i).
  assert (Er : norm d D2 = (1 - q) * a * G).
  { assert (0 <= (1 - q) * a) by (apply Rmult_le_pos; lra).
    unfold G, norm, D2.
    replace (inner d _ _) with ((1 - q) * a * ((1 - q) * a) * inner d (grad x) (grad x))
      by (unfold inner; rewrite <- sum_scal; apply sum_ext; intros; ring).
    rewrite sqrt_mult_alt, sqrt_square by (lra || apply Rle_0_sqr); reflexivity. }
  pose proof (any_direction d L0 L1 f grad P0 (Rlt_le _ _ P1) Smooth x1 D2 top most) as S.
  rewrite Er in S.
  assert (S' : f (moved x1 1 D2) <= f x1 + inner d (grad x1) D2
    + (L0 + L1 * norm d (grad x1)) * most * ((1 - q) * a * G * ((1 - q) * a * G))).
  { apply S; try assumption; apply Rle_trans with (2 := Top); unfold T2, T; right; ring. }
  clear S.
  assert (X : f (moved x1 1 D2) = f (moved x 1 (fun i => - a * grad x i))).
  { destruct Smooth as [_ [Ext _]]; apply Ext; intros i _; unfold x1, D2, moved; ring. }
  rewrite X in S'.
  assert (I : inner d (grad x1) D2 = - ((1 - q) * a) * inner d (grad x1) (grad x)).
  { unfold D2; rewrite inner_symmetric.
    rewrite (inner_symmetric d (grad x1) (grad x)); unfold inner; rewrite <- sum_scal.
    apply sum_ext; intros; ring. }
  rewrite I in S'.
  set (xi := inner d (grad x1) (grad x) / G) in *.
  replace (inner d (grad x1) (grad x)) with (xi * G) in S' by (unfold xi; field; lra).
  set (rho := norm d (grad x1)) in *.
  assert (E0 : L0 = L1 * kappa) by (unfold kappa; field; lra).
  assert (R2 : 0 <= (1 - q) * a * G) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
  assert (F3 : (1 - q) * a * G * ((1 - E) * ((kappa + G) * exp (- T1)) - kappa)
    <= (1 - q) * a * G * (xi - E * (kappa + rho))) by (apply Rmult_le_compat_l; assumption).
  replace ((L0 + L1 * rho) * most * ((1 - q) * a * G * ((1 - q) * a * G)))
    with ((1 - q) * a * G * (E * (kappa + rho))) in S'
    by (rewrite E0; unfold E, T2, T; ring).
  apply Rle_trans with (f x + q * a * G * (kappa - (kappa + G) / T1 * (1 - exp (- T1)))
    - (1 - q) * a * G * ((1 - E) * ((kappa + G) * exp (- T1)) - kappa)); [lra|].
  unfold E; generalize (exp (- T1)); intro e; right; rewrite E0; unfold T2, T1, T.
  field; repeat split; lra.
Qed.
