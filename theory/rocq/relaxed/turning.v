From Certibit.relaxed Require Export smooth.
Local Open Scope R_scope.

(** ** Along a step against the gradient *)

(** The norm of the gradient falls at most by the factor e^(-L1 |D|), also by Gronwall. *)
Lemma gradient_falls : forall d L0 L1 f grad, 0 <= L0 -> 0 <= L1 ->
  relaxed_smooth d L0 L1 f grad -> forall x D t, 0 <= t ->
  L0 + L1 * norm d (grad x) <= (L0 + L1 * norm d (grad (moved x t D))) * exp (L1 * norm d D * t).
Proof.
  intros d L0 L1 f grad P0 P1 Smooth x D t Ht.
  pose proof (gradient_grows d L0 L1 f grad P1 Smooth (moved x t D) (fun i => -1 * D i + 0 * D i) t Ht) as H.
  assert (E : forall y, (forall i, (i < d)%nat -> y i = x i) -> norm d (grad y) = norm d (grad x)).
  { intros y Hy; destruct Smooth as [_ [S _]]; unfold norm, inner; f_equal; apply sum_ext.
    intros i Hi; rewrite (proj2 (S y x Hy) i Hi); reflexivity. }
  assert (E' : forall y, (forall i, (i < d)%nat -> y i = moved x t D i) ->
    norm d (grad y) = norm d (grad (moved x t D))).
  { intros y Hy; destruct Smooth as [_ [S _]]; unfold norm, inner; f_equal; apply sum_ext.
    intros i Hi; rewrite (proj2 (S y (moved x t D) Hy) i Hi); reflexivity. }
  cbv beta zeta in H; rewrite (E' (moved (moved x t D) 0 _)), E in H;
    [| intros i _; unfold moved; ring | intros i _; unfold moved; ring].
  replace (norm d (fun i => -1 * D i + 0 * D i)) with (norm d D) in H; [assumption|].
  unfold norm; rewrite inner_of_combination; f_equal; ring.
Qed.

Lemma exp_at_least : forall x, 1 + x <= exp x.
Proof.
  intro x; destruct (Req_dec x 0) as [->|H]; [rewrite exp_0; lra|].
  left; apply exp_ineq1; assumption.
Qed.

Lemma exp_monotone : forall x y, x <= y -> exp x <= exp y.
Proof. intros x y [H| ->]; [left; apply exp_increasing; assumption | lra]. Qed.

(** The algebra of [turns_late]: z = 1 - cos a for the angle a between the gradient and that at the
    start, m - 1 and zeta the parts of its change that lengthen it and that turn it. *)
Lemma algebra_of_turning : forall N q A z m zeta,
  0 < N -> 0 < q -> 0 <= z <= 2 -> 0 <= m <= 2 -> 0 <= A - N - q * q + N * q ->
  zeta * zeta <= m * (2 - m) * (z * (2 - z)) ->
  0 <= N * N * m - z * (m * N + (m - 1) * (q * q) - A * m) + N * q * zeta.
Proof.
  intros N q A z m zeta PN Pq Hz Hm HA Hzeta.
  pose proof (sqrt_sqrt m (proj1 Hm)) as Ea; pose proof (sqrt_sqrt z (proj1 Hz)) as Eb.
  pose proof (sqrt_pos m) as Pa; pose proof (sqrt_pos z) as Pb.
  set (a := sqrt m) in *; set (b := sqrt z) in *.
  set (M := a * b * (2 - (m + z) / 2)).
  assert (PM : 0 <= M) by (unfold M; apply Rmult_le_pos; [apply Rmult_le_pos; assumption | lra]).
  assert (Z : zeta * zeta <= M * M).
  { apply Rle_trans with (1 := Hzeta); unfold M.
    replace (a * b * (2 - (m + z) / 2) * (a * b * (2 - (m + z) / 2)))
      with (m * z * ((2 - (m + z) / 2) * (2 - (m + z) / 2)))
      by (rewrite <- Ea, <- Eb at 1; ring).
    replace (m * (2 - m) * (z * (2 - z))) with (m * z * ((2 - m) * (2 - z))) by ring.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
    pose proof (Rle_0_sqr (m - z)) as Y; unfold Rsqr in Y; lra. }
  assert (Z' : - M <= zeta) by (destruct (Rle_dec (- M) zeta); [assumption | nra]).
  assert (Nq : 0 < N * q) by (apply Rmult_lt_0_compat; assumption).
  apply Rle_trans with ((b * q - a * N) * (b * q - a * N) + m * z * (A - N - q * q + N * q)
                        + N * q * (a * b) * ((a - b) * (a - b)) / 2).
  - assert (0 <= m * z * (A - N - q * q + N * q))
      by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | assumption]).
    assert (0 <= N * q * (a * b) * ((a - b) * (a - b)) / 2).
    { apply Rmult_le_pos; [|lra]; apply Rmult_le_pos; [|apply Rle_0_sqr].
      apply Rmult_le_pos; [lra | apply Rmult_le_pos; assumption]. }
    pose proof (Rle_0_sqr (b * q - a * N)) as Y; unfold Rsqr in Y; lra.
  - assert (N * q * - M <= N * q * zeta) by (apply Rmult_le_compat_l; lra).
    apply Rle_trans with
      (N * N * m - z * (m * N + (m - 1) * (q * q) - A * m) + N * q * - M); [|lra].
    right; unfold M; rewrite <- Ea, <- Eb; field.
Qed.

(** How much a vector v of length at most 1 turns h away from g. *)
Lemma turning : forall d h g v, 0 < norm d h -> 0 < norm d g -> norm d v <= 1 ->
  let k := inner d v h / norm d h in
  let c := inner d h g / (norm d h * norm d g) in
  let zeta := inner d v g / norm d g - c * k in
  -1 <= k <= 1 /\ -1 <= c <= 1 /\ zeta * zeta <= (1 - k * k) * (1 - c * c).
Proof.
  intros d h g v Ph Pg Hv k c zeta.
  pose proof (inner_at_most d v h); pose proof (inner_at_least d v h).
  pose proof (inner_at_most d h g); pose proof (inner_at_least d h g).
  pose proof (norm_nonnegative d v) as Pv.
  assert (Pp : 0 < norm d h * norm d g) by (apply Rmult_lt_0_compat; assumption).
  assert (Ek : inner d v h = k * norm d h) by (unfold k; field; lra).
  assert (Ec : inner d h g = c * (norm d h * norm d g)) by (unfold c; field; split; lra).
  assert (Hk : -1 <= k <= 1) by (split; apply Rmult_le_reg_r with (norm d h); nra).
  assert (Hc : -1 <= c <= 1) by (split; apply Rmult_le_reg_r with (norm d h * norm d g); nra).
  split; [assumption | split; [assumption|]].
  set (w := fun i => 1 * v i + (- k / norm d h) * h i).
  set (e := fun i => / norm d g * g i + (- c / norm d h) * h i).
  assert (I : inner d w e = zeta).
  { unfold w; rewrite inner_combined, (inner_symmetric d v), (inner_symmetric d h); unfold e.
    rewrite !inner_combined, (inner_symmetric d h v), (inner_symmetric d g v), (inner_symmetric d g h).
    rewrite <- (norm_square d h), Ek, Ec; unfold zeta; field; split; lra. }
  assert (W : inner d w w <= 1 - k * k).
  { unfold w; rewrite inner_of_combination, <- !norm_square, Ek.
    replace (1 * 1 * (norm d v * norm d v) + 2 * 1 * (- k / norm d h) * (k * norm d h)
      + - k / norm d h * (- k / norm d h) * (norm d h * norm d h))
      with (norm d v * norm d v - k * k) by (field; lra).
    nra. }
  assert (E : inner d e e = 1 - c * c).
  { unfold e; rewrite inner_of_combination, <- !norm_square, (inner_symmetric d g h), Ec.
    field; split; lra. }
  pose proof (inner_at_most d w e) as A1; pose proof (inner_at_least d w e) as A2.
  pose proof (norm_square d w) as S1; pose proof (norm_square d e) as S2.
  rewrite I in A1, A2; rewrite E in S2.
  pose proof (inner_square d e) as Pe; rewrite E in Pe.
  assert (zeta * zeta <= (norm d w * norm d e) * (norm d w * norm d e)) by nra.
  apply Rle_trans with ((norm d w * norm d w) * (norm d e * norm d e)); [nra|].
  rewrite S1, S2; apply Rmult_le_compat_r; assumption.
Qed.

Lemma product_derivative : forall F K t F' K',
  derivable_pt_lim F t F' -> derivable_pt_lim K t K' ->
  derivable_pt_lim (fun s => F s * K s) t (F' * K t + F t * K').
Proof. intros; apply (derivable_pt_lim_mult F K); assumption. Qed.

Lemma sum_of_two_derivative : forall F K t F' K',
  derivable_pt_lim F t F' -> derivable_pt_lim K t K' ->
  derivable_pt_lim (fun s => F s + K s) t (F' + K').
Proof. intros; apply (derivable_pt_lim_plus F K); assumption. Qed.

Lemma quotient_derivative : forall F K t F' K', K t <> 0 ->
  derivable_pt_lim F t F' -> derivable_pt_lim K t K' ->
  derivable_pt_lim (fun s => F s / K s) t ((F' * K t - K' * F t) / (K t * K t)).
Proof. intros; apply (derivable_pt_lim_div F K); assumption. Qed.

Lemma logarithm_derivative : forall F t F', 0 < F t ->
  derivable_pt_lim F t F' -> derivable_pt_lim (fun s => ln (F s)) t (F' / F t).
Proof.
  intros F t F' P D; apply derivative_is with (/ F t * F'); [|unfold Rdiv; ring].
  apply (derivable_pt_lim_comp F ln); [assumption | apply derivable_pt_lim_ln; assumption].
Qed.

Lemma exponential_derivative : forall a b t,
  derivable_pt_lim (fun s => exp (a * s + b)) t (exp (a * t + b) * a).
Proof.
  intros a b t; apply (derivable_pt_lim_comp (fun s => a * s + b) exp);
    [|apply derivable_pt_lim_exp].
  apply derivative_is with (a + 0); [|ring].
  apply sum_of_two_derivative; [apply linear_derivative | apply derivable_pt_lim_const].
Qed.

(** The logarithm is concave. *)
Lemma ln_concave : forall s a b, 0 <= s <= 1 -> 0 < a -> 0 < b ->
  (1 - s) * ln a + s * ln b <= ln ((1 - s) * a + s * b).
Proof.
  intros s a b H Pa Pb; set (m := (1 - s) * a + s * b).
  assert (Pm : 0 < m).
  { unfold m; destruct (Req_dec s 0) as [->|]; [lra|].
    assert (0 <= (1 - s) * a) by (apply Rmult_le_pos; lra).
    assert (0 < s * b) by (apply Rmult_lt_0_compat; lra); lra. }
  assert (T : forall y, 0 < y -> ln y <= ln m + (y / m - 1)).
  { intros y Py; replace y with (m * (y / m)) at 1 by (field; lra).
    assert (Pq : 0 < y / m) by (apply Rdiv_lt_0_compat; assumption).
    rewrite ln_mult by assumption.
    pose proof (exp_at_least (ln (y / m))) as E; rewrite exp_ln in E by assumption; lra. }
  assert ((1 - s) * ln a <= (1 - s) * (ln m + (a / m - 1))) by (apply Rmult_le_compat_l; [lra | auto]).
  assert (s * ln b <= s * (ln m + (b / m - 1))) by (apply Rmult_le_compat_l; [lra | auto]).
  replace (ln m) with ((1 - s) * (ln m + (a / m - 1)) + s * (ln m + (b / m - 1))); [lra|].
  replace ((1 - s) * (ln m + (a / m - 1)) + s * (ln m + (b / m - 1)))
    with (ln m + (((1 - s) * a + s * b) / m - 1)) by (field; lra).
  fold m; field; lra.
Qed.

(** The length rho of the gradient and its component xi along that at the start, with changes at
    most T (kappa + rho): xi - E (kappa + rho) falls no faster than if the gradient did not turn. *)
Section TurnsLate.
  Variables (kappa G T E end_ : R) (rho rho' xi xi' : R -> R).
  Hypotheses (kappa_ : 0 <= kappa) (G_ : 0 < G) (T_ : 0 < T) (end__ : 0 <= end_ <= 1).
  Hypotheses (E_ : 0 <= E) (Short : T + E <= 1).
  Hypothesis Start : rho 0 = G /\ xi 0 = G.
  Hypothesis Rho : forall t, 0 <= t <= 1 -> 0 < rho t -> derivable_pt_lim rho t (rho' t).
  Hypothesis Xi : forall t, 0 <= t <= 1 -> derivable_pt_lim xi t (xi' t).
  Hypothesis Falls : forall t, 0 <= t <= 1 -> (kappa + G) * exp (- T * t) <= kappa + rho t.
  Hypothesis Turns : forall t, 0 <= t <= 1 -> 0 < rho t ->
    let k := rho' t / (T * (kappa + rho t)) in
    let c := xi t / rho t in
    let zeta := xi' t / (T * (kappa + rho t)) - c * k in
    -1 <= k <= 1 /\ -1 <= c <= 1 /\ zeta * zeta <= (1 - k * k) * (1 - c * c).
  Let U := (kappa + G) * exp (- T) - kappa.
  Hypothesis Condition : 0 < U /\ 0 < 1 - E - E * kappa / U + kappa / G - ln G + ln U.

  Let u t := (kappa + rho t) * exp (T * t + - (T * end_)) - kappa.
  Let N t := 1 - E - E * kappa / u t + kappa / rho t - ln (rho t) + ln (u t).
  Let V t := (1 - E) * (kappa + u t) - kappa - (1 - E) * (kappa + u t) / N t * (1 - xi t / rho t).

  Lemma rho_positive : forall t, 0 <= t <= 1 -> 0 < (kappa + G) * exp (- T * t) - kappa.
  Proof.
    intros t Ht; destruct Condition as [PU _]; unfold U in PU.
    assert (exp (- T) <= exp (- T * t)) by (apply exp_monotone; nra).
    assert ((kappa + G) * exp (- T) <= (kappa + G) * exp (- T * t))
      by (apply Rmult_le_compat_l; lra).
    lra.
  Qed.

  Lemma rho_is_positive : forall t, 0 <= t <= 1 -> 0 < rho t.
  Proof. intros t Ht; pose proof (rho_positive t Ht); pose proof (Falls t Ht); lra. Qed.

  Lemma u_positive : forall t, 0 <= t <= end_ -> 0 < u t.
  Proof.
    intros t Ht; unfold u; assert (Ht' : 0 <= t <= 1) by lra; pose proof (Falls t Ht') as F.
    destruct Condition as [PU _]; unfold U in PU.
    pose proof (exp_pos (T * t + - (T * end_))).
    assert ((kappa + G) * exp (- T * t) * exp (T * t + - (T * end_))
            <= (kappa + rho t) * exp (T * t + - (T * end_))) by (apply Rmult_le_compat_r; lra).
    assert ((kappa + G) * exp (- T) <= (kappa + G) * exp (- T * t) * exp (T * t + - (T * end_))).
    { rewrite Rmult_assoc, <- exp_plus; apply Rmult_le_compat_l; [lra|]; apply exp_monotone; nra. }
    lra.
  Qed.

  Lemma N_positive : forall t, 0 <= t <= end_ -> 0 < N t.
  Proof.
    intros t Ht; assert (Ht' : 0 <= t <= 1) by lra; destruct Condition as [PU C].
    pose proof (rho_is_positive t Ht') as Pr; pose proof (u_positive t Ht) as Pu.
    pose proof (Falls t Ht') as Fr; pose proof (rho_positive t Ht') as Pm.
    set (m := (kappa + G) * exp (- T * t) - kappa) in *.
    set (s := T * t + - (T * end_)).
    assert (Hs : exp s <= 1) by (rewrite <- exp_0; apply exp_monotone; unfold s; nra).
    (* at the least rho *)
    set (um := (kappa + m) * exp s - kappa).
    assert (Um : U <= um).
    { unfold um, U, m, s.
      replace (kappa + ((kappa + G) * exp (- T * t) - kappa)) with ((kappa + G) * exp (- T * t)) by ring.
      rewrite Rmult_assoc, <- exp_plus.
      apply Rplus_le_compat_r, Rmult_le_compat_l; [lra|]; apply exp_monotone; nra. }
    assert (MG : m <= G).
    { unfold m; assert (exp (- T * t) <= 1) by (rewrite <- exp_0; apply exp_monotone; nra); nra. }
    assert (AtLeast : 0 < 1 - E - E * kappa / um + kappa / m - ln m + ln um).
    { assert (kappa / G <= kappa / m)
        by (unfold Rdiv; apply Rmult_le_compat_l; [assumption|]; apply Rinv_le_contravar; assumption).
      assert (E * kappa / um <= E * kappa / U).
      { unfold Rdiv; apply Rmult_le_compat_l; [apply Rmult_le_pos; assumption|].
        apply Rinv_le_contravar; assumption. }
      assert (M : forall a b, 0 < a -> a <= b -> ln a <= ln b)
        by (intros a b Pa [L| ->]; [left; apply ln_increasing; assumption | lra]).
      pose proof (M m G Pm MG); pose proof (M U um PU Um); lra. }
    (* at any rho, by convexity in m/rho *)
    set (part := m / rho t).
    assert (Hp : 0 < part <= 1).
    { unfold part; split; [apply Rdiv_lt_0_compat; assumption|].
      apply Rmult_le_reg_r with (rho t); [assumption|].
      replace (m / rho t * rho t) with m by (field; lra); unfold m; lra. }
    assert (Pum : 0 < um) by lra.
    pose proof (ln_concave part (exp s) (um / m) (conj (Rlt_le _ _ (proj1 Hp)) (proj2 Hp))
                  (exp_pos s) (Rdiv_lt_0_compat _ _ Pum Pm)) as L.
    replace ((1 - part) * exp s + part * (um / m)) with (u t / rho t) in L
      by (unfold part, um, u; fold s; field; lra).
    unfold Rdiv in L; rewrite !ln_mult, !ln_Rinv, ln_exp in L
      by (assumption || apply Rinv_0_lt_compat; assumption).
    assert (Q : E * kappa / u t <= part * (E * kappa / um)).
    { unfold part; apply Rmult_le_reg_l with (u t * um * rho t);
        [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption|].
      replace (u t * um * rho t * (E * kappa / u t)) with (E * kappa * (um * rho t)) by (field; lra).
      replace (u t * um * rho t * (m / rho t * (E * kappa / um))) with (E * kappa * (u t * m))
        by (field; lra).
      apply Rmult_le_compat_l; [apply Rmult_le_pos; assumption|].
      (* u/rho increases with rho *)
      unfold um, u; fold s.
      replace (((kappa + rho t) * exp s - kappa) * m - ((kappa + m) * exp s - kappa) * rho t)
        with (kappa * (1 - exp s) * (rho t - m)) by ring.
      assert (0 <= kappa * (1 - exp s) * (rho t - m)).
      { apply Rmult_le_pos; [apply Rmult_le_pos; lra | unfold m; lra]. }
      lra. }
    assert (K : kappa / rho t = part * (kappa / m)) by (unfold part; field; lra).
    unfold N; rewrite K.
    assert (S : 0 <= (1 - part) * (1 - E + s)) by (apply Rmult_le_pos; unfold s; nra).
    assert (S' : 0 < part * (1 - E - E * kappa / um + kappa / m - ln m + ln um))
      by (apply Rmult_lt_0_compat; lra).
    lra.
  Qed.
  Lemma V_increases : V 0 <= V end_.
  Proof.
    set (u' t := rho' t * exp (T * t + - (T * end_)) + (kappa + rho t) * (exp (T * t + - (T * end_)) * T)).
    set (N' t := - ((0 * u t - u' t * (E * kappa)) / (u t * u t))
      + (0 * rho t - rho' t * kappa) / (rho t * rho t) - rho' t / rho t + u' t / u t).
    set (V' t := (1 - E) * u' t
      - (((1 - E) * u' t * N t - N' t * ((1 - E) * (kappa + u t))) / (N t * N t) * (1 - xi t / rho t)
         + (1 - E) * (kappa + u t) / N t
           * (0 - (xi' t * rho t - rho' t * xi t) / (rho t * rho t)))).
    apply increases with V'; [lra| |]; intros t Ht.
    - assert (Ht' : 0 <= t <= 1) by lra.
      pose proof (rho_is_positive t Ht') as Pr; pose proof (u_positive t Ht) as Pu.
      pose proof (N_positive t Ht) as PN.
      pose proof (Rho t Ht' Pr) as Dr; pose proof (Xi t Ht') as Dx.
      assert (Du : derivable_pt_lim u t (u' t)).
      { unfold u, u'; apply derivative_is with
          ((0 + rho' t) * exp (T * t + - (T * end_))
           + (kappa + rho t) * (exp (T * t + - (T * end_)) * T) - 0); [|ring].
        apply (derivable_pt_lim_minus (fun s => (kappa + rho s) * exp (T * s + - (T * end_)))
                 (fun _ => kappa)); [|apply derivable_pt_lim_const].
        apply (product_derivative (fun s => kappa + rho s) (fun s => exp (T * s + - (T * end_))));
          [|apply exponential_derivative].
        apply (sum_of_two_derivative (fun _ => kappa)); [apply derivable_pt_lim_const | assumption]. }
      assert (DN : derivable_pt_lim N t (N' t)).
      { unfold N, N'; apply derivative_is with
          (0 - (0 * u t - u' t * (E * kappa)) / (u t * u t)
           + (0 * rho t - rho' t * kappa) / (rho t * rho t) - rho' t / rho t + u' t / u t); [|ring].
        apply (sum_of_two_derivative (fun s => 1 - E - E * kappa / u s + kappa / rho s - ln (rho s)));
          [|apply logarithm_derivative; assumption].
        apply (derivable_pt_lim_minus (fun s => 1 - E - E * kappa / u s + kappa / rho s)
                 (fun s => ln (rho s))); [|apply logarithm_derivative; assumption].
        apply (sum_of_two_derivative (fun s => 1 - E - E * kappa / u s)).
        - apply (derivable_pt_lim_minus (fun _ => 1 - E) (fun s => E * kappa / u s));
            [apply derivable_pt_lim_const|].
          apply (quotient_derivative (fun _ => E * kappa));
            [lra | apply derivable_pt_lim_const | assumption].
        - apply (quotient_derivative (fun _ => kappa));
            [lra | apply derivable_pt_lim_const | assumption]. }
      assert (Dw : derivable_pt_lim (fun s => (1 - E) * (kappa + u s)) t ((1 - E) * u' t)).
      { apply derivative_is with ((1 - E) * (0 + u' t)); [|ring].
        apply (derivable_pt_lim_scal (fun s => kappa + u s)).
        apply (sum_of_two_derivative (fun _ => kappa)); [apply derivable_pt_lim_const | assumption]. }
      unfold V, V'.
      apply (derivable_pt_lim_minus (fun s => (1 - E) * (kappa + u s) - kappa)
               (fun s => (1 - E) * (kappa + u s) / N s * (1 - xi s / rho s))).
      + apply derivative_is with ((1 - E) * u' t - 0); [|ring].
        apply (derivable_pt_lim_minus (fun s => (1 - E) * (kappa + u s)) (fun _ => kappa));
          [assumption | apply derivable_pt_lim_const].
      + apply (product_derivative (fun s => (1 - E) * (kappa + u s) / N s) (fun s => 1 - xi s / rho s)).
        * apply (quotient_derivative (fun s => (1 - E) * (kappa + u s))); [lra | assumption | assumption].
        * apply (derivable_pt_lim_minus (fun _ => 1) (fun s => xi s / rho s));
            [apply derivable_pt_lim_const|].
          apply quotient_derivative; [lra | assumption | assumption].
    - assert (Ht' : 0 <= t <= end_) by lra; assert (Ht1 : 0 <= t <= 1) by lra.
      pose proof (rho_is_positive t Ht1) as Pr; pose proof (u_positive t Ht') as Pu.
      pose proof (N_positive t Ht') as PN.
      destruct (Turns t Ht1 Pr) as [Hk [Hc Hz]].
      assert (Pw : 0 < T * (kappa + rho t)) by (apply Rmult_lt_0_compat; lra).
      set (k := rho' t / (T * (kappa + rho t))) in *.
      set (c := xi t / rho t) in *.
      set (zeta := xi' t / (T * (kappa + rho t)) - c * k) in *.
      assert (Er : rho' t = k * (T * (kappa + rho t))) by (unfold k; field; lra).
      assert (Ex : xi t = c * rho t) by (unfold c; field; lra).
      assert (Ex' : xi' t = (zeta + c * k) * (T * (kappa + rho t))) by (unfold zeta; field; lra).
      assert (Eu : u' t = T * (kappa + u t) * (1 + k)) by (unfold u', u; rewrite Er; ring).
      assert (A : 0 <= N t * N t * (1 + k)
        - (1 - c) * ((1 + k) * N t + ((1 + k) - 1) * ((1 + kappa / rho t) * (1 + kappa / rho t))
                     - (1 + kappa / u t) * (1 + E * kappa / u t) * (1 + k))
        + N t * (1 + kappa / rho t) * zeta).
      { apply algebra_of_turning; [assumption | | lra | lra | |].
        - assert (0 <= kappa / rho t) by (apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat]; assumption).
          lra.
        - (* kappa/rho (e^l - 1 - l) + ... with l = log(rho/u) >= 0 *)
          unfold N; set (l := ln (rho t) - ln (u t)).
          assert (El : rho t / u t = exp l).
          { unfold l, Rminus; rewrite exp_plus, exp_Ropp, !exp_ln by assumption; reflexivity. }
          replace ((1 + kappa / u t) * (1 + E * kappa / u t)
            - (1 - E - E * kappa / u t + kappa / rho t - ln (rho t) + ln (u t))
            - (1 + kappa / rho t) * (1 + kappa / rho t)
            + (1 - E - E * kappa / u t + kappa / rho t - ln (rho t) + ln (u t)) * (1 + kappa / rho t))
            with (kappa / rho t * (rho t / u t - (1 + l))
                  + E * (1 + kappa / u t) * (kappa / rho t) * (rho t / u t - 1))
            by (unfold l; field; split; lra).
          assert (Pkr : 0 <= kappa / rho t)
            by (apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; assumption]).
          assert (Pku : 0 <= kappa / u t)
            by (apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; assumption]).
          assert (Up : u t <= rho t).
          { unfold u; assert (exp (T * t + - (T * end_)) <= 1)
              by (rewrite <- exp_0; apply exp_monotone; nra); nra. }
          assert (1 <= rho t / u t).
          { apply Rmult_le_reg_r with (u t); [assumption|].
            replace (rho t / u t * u t) with (rho t) by (field; lra); lra. }
          pose proof (exp_at_least l); rewrite El in *.
          apply Rplus_le_le_0_compat; [apply Rmult_le_pos; [assumption | lra]|].
          apply Rmult_le_pos; [|lra]; apply Rmult_le_pos; [|assumption].
          apply Rmult_le_pos; lra.
        - replace ((1 + k) * (2 - (1 + k)) * ((1 - c) * (2 - (1 - c))))
            with ((1 - k * k) * (1 - c * c)) by ring.
          assumption. }
      replace (V' t) with ((1 - E) * (T * (kappa + u t)) / (N t * N t) * (N t * N t * (1 + k)
        - (1 - c) * ((1 + k) * N t + ((1 + k) - 1) * ((1 + kappa / rho t) * (1 + kappa / rho t))
                     - (1 + kappa / u t) * (1 + E * kappa / u t) * (1 + k))
        + N t * (1 + kappa / rho t) * zeta)).
      + apply Rmult_le_pos; [|assumption].
        apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]|].
        left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption.
      + unfold V', N'; rewrite Eu, Er, Ex', Ex; field; repeat split; lra.
  Qed.

  Lemma turns_late :
    (1 - E) * ((kappa + G) * exp (- T * end_)) - kappa <= xi end_ - E * (kappa + rho end_).
  Proof.
    pose proof V_increases as H; destruct Start as [R0 X0].
    assert (P : 0 < rho end_) by (apply rho_is_positive; lra).
    assert (U0 : kappa + u 0 = (kappa + G) * exp (- T * end_)).
    { unfold u; rewrite R0; replace (T * 0 + - (T * end_)) with (- T * end_) by ring; ring. }
    assert (U1 : u end_ = rho end_).
    { unfold u; replace (T * end_ + - (T * end_)) with 0 by ring; rewrite exp_0; ring. }
    assert (V0 : V 0 = (1 - E) * (kappa + u 0) - kappa).
    { unfold V; rewrite R0, X0; replace (G / G) with 1 by (field; lra); ring. }
    assert (V1 : V end_ = xi end_ - E * (kappa + rho end_)).
    { unfold V, N; rewrite U1.
      replace (1 - E - E * kappa / rho end_ + kappa / rho end_ - ln (rho end_) + ln (rho end_))
        with ((1 - E) * (rho end_ + kappa) / rho end_) by (field; lra).
      field; repeat split; lra. }
    rewrite V0, V1, U0 in H; exact H.
  Qed.
End TurnsLate.
