(* LoCoDL, arXiv:2403.04348, Corollary 3.2: independent rand-k with k = ceil(d/n), and the reals that it sends. *)
From Certibit Require Export RandK.
From Certibit.methods Require Export LoCoDL.

Definition ceiling (d n : nat) : nat := ((d + n - 1) / n)%nat.
Definition variance (n d : nat) : R := INR d / INR (ceiling d n) - 1.
Definition relaxation (n d : nat) : R := INR n / (INR n - 1 + INR d / INR (ceiling d n)).
Definition spread (n d : nat) : R :=
  (INR d * INR (ceiling d n) * (INR n - 1) + INR d ^ 2) / (INR n * INR (ceiling d n) ^ 2).
Definition probability (n d : nat) (kappa : R) : R :=
  let k := INR (ceiling d n) in
  Rmin (sqrt ((INR d * k * (INR n - 1) + INR d ^ 2) / (INR n * k ^ 2 * kappa))) 1.
Definition corollary_conditions (n d : nat) (mu L gamma chi rho p omega : R) : Prop :=
  LoCoDL.conditions L (variance n d) (variance n d / INR n) gamma chi rho p omega /\ 1 / (2 * L) <= gamma /\
  chi = relaxation n d /\ rho = relaxation n d /\ p = probability n d (L / mu).

Lemma ceiling_bounds d n : (1 <= n)%nat -> (1 <= d)%nat ->
  (1 <= ceiling d n <= d)%nat /\ (d <= n * ceiling d n)%nat /\ (n * ceiling d n <= d + n - 1)%nat.
Proof.
  intros Hn Hd. unfold ceiling. pose proof (Nat.div_mod (d + n - 1) n ltac:(lia)) as H.
  pose proof (Nat.mod_upper_bound (d + n - 1) n ltac:(lia)) as Hm.
  set (q := ((d + n - 1) / n)%nat) in *. set (m := ((d + n - 1) mod n)%nat) in *. clearbody q m.
  assert (1 <= q)%nat by (destruct q; lia).
  repeat split; try lia. destruct (Nat.le_gt_cases q d) as [|Hq]; [auto|].
  assert (n * (d + 1) <= n * q)%nat by (apply Nat.mul_le_mono_l; lia). nia.
Qed.

Section Corollary.
Context (n d : nat) (f : nat -> Rd d -> R) (grad : nat -> Rd d -> Rd d) (g : Rd d -> R) (grad_g : Rd d -> Rd d).
Context (xs : Rd d) (b mu L gamma chi rho p omega : R) (coin_p : 0 <= p <= 1).
Let k : nat := ceiling d n.
Let C := independent n (fun _ => rand_k d k).
Notation step := (LoCoDL.step n grad grad_g C b omega gamma chi rho p coin_p).
Notation Psi := (LoCoDL.Psi n grad grad_g xs omega gamma chi p).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis d_pos : (1 <= d)%nat.
Hypothesis f_class : forall i, (i < n)%nat -> class mu L (f i) (grad i).
Hypothesis g_class : class mu L g grad_g.
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L.
Hypothesis minimum : forall x, fmean n f xs + g xs <= fmean n f x + g x.
Hypothesis parameters : corollary_conditions n d mu L gamma chi rho p omega.

Theorem corollary_accuracy T x0 eps : 0 < eps -> 0 < Psi (start x0) ->
  ln (Psi (start x0) / (INR n / gamma * eps)) / (1 - rate mu L omega gamma chi p) <= INR T ->
  E (rounds step T (start x0)) (fun s => sq (y s -v xs)) <= eps /\
  E (rounds step T (start x0)) sent = INR T * (p * b).
Proof.
  destruct (ceiling_bounds d n n_pos d_pos) as (Hk & _). destruct parameters as (H & _).
  assert (Ho : 0 <= variance n d) by now apply rand_k_omega.
  intros He HP HT.
  apply (LoCoDL.accuracy n f grad g grad_g xs C b mu L (variance n d) omega (variance n d / INR n)); auto.
  - now apply rand_k_messages.
  - apply Rmult_le_pos; [auto|]. left. apply Rinv_0_lt_compat. now apply INR_pos.
Qed.
End Corollary.

(* Equation (10): k p/(1 - tau) reals, times ln(1/eps), if omega is that of rand-k and gamma <= 1/L. *)
Theorem corollary_reals n d mu L gamma chi rho p : (1 <= n)%nat -> (1 <= d)%nat -> 0 < mu -> mu <= L ->
  corollary_conditions n d mu L gamma chi rho p (variance n d) -> gamma <= 1 / L ->
  0 < 1 - rate mu L (variance n d) gamma chi p /\
  INR (ceiling d n) * p / (1 - rate mu L (variance n d) gamma chi p) <=
    4 * (sqrt (INR d * (L / mu)) + INR d * sqrt (L / mu / INR n) + INR d).
Proof.
  intros Hn Hd Hmu HL (H & Hg1 & Hchi & Hrho & Hp) Hg2. destruct H as (Hg & _ & Hp0 & Hp1 & _).
  destruct (ceiling_bounds d n Hn Hd) as (Hk & Hlow & Hup).
  pose proof (INR_pos n Hn) as HN. pose proof (INR_pos d Hd) as HD. pose proof (INR_pos _ (proj1 Hk)) as HK.
  apply le_INR in Hlow. rewrite mult_INR in Hlow.
  assert (Hup' : INR n * INR (ceiling d n) <= INR d + INR n).
  { rewrite <- mult_INR, <- plus_INR. apply le_INR. lia. }
  assert (HN1 : 1 <= INR n) by (apply (le_INR 1); lia).
  assert (HKD : INR (ceiling d n) <= INR d) by (apply le_INR; lia).
  unfold variance, relaxation, probability in *. set (k := INR (ceiling d n)) in *. set (D := INR d) in *.
  set (N := INR n) in *. set (kappa := L / mu) in *. clearbody k D N.
  assert (Hkap : 1 <= kappa).
  { unfold kappa. apply (Rmult_le_reg_r mu); [auto|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  set (Q := (D * k * (N - 1) + D ^ 2) / (N * k ^ 2)).
  assert (Hnum : 0 < D * k * (N - 1) + D ^ 2).
  { assert (0 <= D * k * (N - 1)) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]).
    assert (0 < D ^ 2) by now apply pow_lt. lra. }
  assert (HQ : 0 < Q) by (apply Rdiv_lt_0_compat; [auto|apply Rmult_lt_0_compat; [auto|now apply pow_lt]]).
  assert (Hden : 0 < N - 1 + D / k) by (assert (0 < D / k) by (now apply Rdiv_lt_0_compat); lra).
  (* The part of the control variates: p^2 chi/(1 + 2 omega) >= p^2/(2 Q). *)
  assert (Hdual : p ^ 2 / (2 * Q) <= p ^ 2 * chi / (1 + 2 * (D / k - 1))).
  { assert (Hdk : 1 <= D / k).
    { apply (Rmult_le_reg_r k); [auto|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    rewrite Hchi. unfold Rdiv at 1 2. rewrite (Rmult_assoc (p ^ 2)). apply Rmult_le_compat_l; [apply pow2_ge_0|].
    replace (N / (N - 1 + D / k) * / (1 + 2 * (D / k - 1))) with (/ ((N - 1 + D / k) / N * (2 * (D / k) - 1)))
      by (field; repeat split; lra).
    apply Rinv_le_contravar.
    - apply Rmult_lt_0_compat; [now apply Rdiv_lt_0_compat|lra].
    - replace (2 * Q) with ((N - 1 + D / k) / N * (2 * (D / k))) by (unfold Q; field; lra).
      apply Rmult_le_compat_l; [left; now apply Rdiv_lt_0_compat|lra]. }
  (* The part of the models. *)
  assert (HgL : gamma * L <= 1).
  { apply (Rmult_le_compat_r L) in Hg2; [|lra]. replace (1 / L * L) with 1 in Hg2 by (field; lra). lra. }
  assert (HgL2 : 1 / 2 <= gamma * L).
  { apply (Rmult_le_compat_r L) in Hg1; [|lra]. replace (1 / (2 * L) * L) with (1 / 2) in Hg1 by (field; lra). lra. }
  assert (Hgm : / (2 * kappa) <= gamma * mu).
  { replace (/ (2 * kappa)) with (1 / 2 * (mu / L)) by (unfold kappa; field; lra).
    replace (gamma * mu) with (gamma * L * (mu / L)) by (field; lra).
    apply Rmult_le_compat_r; [left; now apply Rdiv_lt_0_compat; lra|auto]. }
  assert (Hmm : gamma * mu <= gamma * L) by (apply Rmult_le_compat_l; lra).
  set (m := Rmin (/ (2 * kappa)) (p ^ 2 / (2 * Q))).
  assert (Hm : m <= 1 - rate mu L (D / k - 1) gamma chi p).
  { assert (rate mu L (D / k - 1) gamma chi p <= 1 - m); [|lra]. unfold rate.
    pose proof (Rmin_l (/ (2 * kappa)) (p ^ 2 / (2 * Q))) as H1.
    pose proof (Rmin_r (/ (2 * kappa)) (p ^ 2 / (2 * Q))) as H2. fold m in H1, H2.
    assert (Hsq : forall a, 0 <= a <= 1 -> m <= a -> (1 - a) ^ 2 <= 1 - m).
    { intros a Ha Hma. assert (0 <= a * (1 - a)) by (apply Rmult_le_pos; lra). lra. }
    assert (0 < / (2 * kappa)) by (apply Rinv_0_lt_compat; lra).
    repeat apply Rmax_lub; [apply Hsq|apply Hsq|]; lra. }
  assert (Hm0 : 0 < m).
  { apply Rmin_glb_lt; [apply Rinv_0_lt_compat; lra|]. apply Rdiv_lt_0_compat; [now apply pow_lt|lra]. }
  split; [lra|].
  apply Rle_trans with (k * p / m).
  { unfold Rdiv. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. now apply Rinv_le_contravar. }
  assert (Hs1 : 0 <= sqrt (D * kappa)) by apply sqrt_pos. assert (Hs2 : 0 <= sqrt (kappa / N)) by apply sqrt_pos.
  replace (D * k * (N - 1) + D ^ 2) with (Q * (N * k ^ 2)) in Hp by (unfold Q; field; lra).
  replace (Q * (N * k ^ 2) / (N * k ^ 2 * kappa)) with (Q / kappa) in Hp by (field; lra).
  destruct (Rle_dec (Q / kappa) 1) as [Hle|Hgt].
  - (* p = sqrt(Q/kappa) *)
    assert (Hps : p = sqrt (Q / kappa)).
    { rewrite Hp. apply Rmin_left. rewrite <- sqrt_1. apply sqrt_le_1_alt. exact Hle. }
    assert (Hp2 : p ^ 2 = Q / kappa) by (rewrite Hps; apply pow2_sqrt; left; apply Rdiv_lt_0_compat; lra).
    assert (Hmk : m = / (2 * kappa)).
    { apply Rmin_left. rewrite Hp2. right. field. lra. }
    rewrite Hmk. replace (k * p / / (2 * kappa)) with (2 * (kappa * (k * p))) by (field; lra).
    assert (Hsq : (kappa * (k * p)) ^ 2 <= (sqrt (D * kappa) + 2 * (D * sqrt (kappa / N))) ^ 2).
    { rewrite !Rpow_mult_distr, Hp2.
      assert (H1 : sqrt (D * kappa) ^ 2 = D * kappa) by (apply pow2_sqrt; apply Rmult_le_pos; lra).
      assert (H2 : sqrt (kappa / N) ^ 2 = kappa / N) by (apply pow2_sqrt; left; apply Rdiv_lt_0_compat; lra).
      assert (H3 : (D * sqrt (kappa / N)) ^ 2 = D ^ 2 * (kappa / N)) by (rewrite Rpow_mult_distr, H2; ring).
      assert (H4 : 0 <= sqrt (D * kappa) * (D * sqrt (kappa / N))) by (repeat apply Rmult_le_pos; auto; lra).
      replace (kappa ^ 2 * (k ^ 2 * (Q / kappa))) with (kappa / N * (D * k * (N - 1) + D ^ 2))
        by (unfold Q; field; lra).
      assert (H5 : kappa / N * (D * k * (N - 1) + D ^ 2) <= kappa / N * (D * (D + N) + D ^ 2)).
      { apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra|]. apply Rplus_le_compat_r.
        rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. nra. }
      replace (kappa / N * (D * (D + N) + D ^ 2)) with (2 * (D ^ 2 * (kappa / N)) + D * kappa) in H5 by (field; lra).
      assert (0 <= D ^ 2 * (kappa / N)) by (rewrite <- H3; apply pow2_ge_0). nra. }
    assert (Hroot : kappa * (k * p) <= sqrt (D * kappa) + 2 * (D * sqrt (kappa / N))).
    { apply Rsqr_incr_0_var; [rewrite !Rsqr_pow2; exact Hsq|].
      assert (0 <= D * sqrt (kappa / N)) by (apply Rmult_le_pos; lra). lra. }
    lra.
  - (* p = 1 *)
    assert (Hps : p = 1).
    { rewrite Hp. apply Rmin_right. rewrite <- sqrt_1. apply sqrt_le_1_alt. lra. }
    assert (Hkq : kappa <= Q).
    { apply Rnot_le_lt in Hgt. apply (Rmult_lt_compat_r kappa) in Hgt; [|lra].
      replace (Q / kappa * kappa) with Q in Hgt by (field; lra). lra. }
    assert (Hmk : m = / (2 * Q)).
    { unfold m. rewrite Hps. replace (1 ^ 2 / (2 * Q)) with (/ (2 * Q)) by (field; lra). apply Rmin_right.
      apply Rinv_le_contravar; lra. }
    rewrite Hmk, Hps. replace (k * 1 / / (2 * Q)) with (2 * (k * Q)) by (field; lra).
    assert (HkQ : k * Q <= 2 * D).
    { replace (k * Q) with (D * ((k * (N - 1) + D) / (N * k))) by (unfold Q; field; lra).
      assert ((k * (N - 1) + D) / (N * k) <= 2); [|nra].
      apply (Rmult_le_reg_r (N * k)); [now apply Rmult_lt_0_compat|]. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l by (assert (0 < N * k) by (now apply Rmult_lt_0_compat); lra). nra. }
    assert (0 <= D * sqrt (kappa / N)) by (apply Rmult_le_pos; lra). lra.
Qed.
