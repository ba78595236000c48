(* MARINA, EF21, compressed GD, DIANA version A with rand-k on R^d, and MARINA on quadratics:
   the hypotheses can be met. *)
From Certibit Require Import Functions Rounds RandK Nonconvex Examples.
From Certibit.methods Require MARINA EF21 EF21Nonconvex CompressedGD DIANA DIANAVersionA.

(* MARINA with independent rand-k. *)
Theorem MARINA_rand_k (n d k : nat) (f : nat -> Rd d -> R) (grad : nat -> Rd d -> Rd d) (fs b_full b : R)
    (L_f : R) (L : nat -> R) (L_tilde gamma p : R) (coin_p : 0 <= p <= 1)
    (omega := INR d / INR k - 1) (C := independent n (fun _ => rand_k d k)) :
  (1 <= n)%nat -> (1 <= k <= d)%nat ->
  class (- L_f) L_f (fmean n f) (gmean n grad) ->
  (forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i)) ->
  0 < L_f -> (forall i, (i < n)%nat -> 0 <= L i) -> 0 <= L_tilde ->
  L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2) -> (forall x, fs <= fmean n f x) ->
  MARINA.conditions L_f L_tilde (omega / INR n) gamma p ->
  forall T x0 eps, 0 < eps -> (1 <= T)%nat -> 2 * (fmean n f x0 - fs) / (gamma * eps) <= INR T ->
  / INR T * sum T (fun t => E (rounds (MARINA.step n grad C b_full b gamma p coin_p) t
    (MARINA.start n grad b_full x0)) (MARINA.squared_gradient n grad)) <= eps /\
  E (rounds (MARINA.step n grad C b_full b gamma p coin_p) T (MARINA.start n grad b_full x0)) MARINA.sent
    = b_full + INR T * (p * b_full + (1 - p) * b).
Proof.
  intros Hn Hk Hf Hi HLf HL Ht Ht2 Hb Hc T x0 eps He HT H.
  assert (Ho : 0 <= omega) by now apply rand_k_omega.
  apply (MARINA.accuracy n f grad fs C b_full b L_f L L_tilde omega (omega / INR n) gamma p coin_p); auto.
  - now apply rand_k_messages.
  - apply Rmult_le_pos; [auto|]. left. apply Rinv_0_lt_compat. now apply INR_pos.
Qed.

(* n quadratics with different minima, the largest step of the card. *)
Theorem MARINA_quadratics (n d k : nat) (a : nat -> Rd d) (x0 : Rd d) (b_full b c p : R)
    (coin_p : 0 <= p <= 1) (T : nat) (omega := INR d / INR k - 1)
    (C := independent n (fun _ => rand_k d k))
    (gamma := 1 / (c + c * sqrt ((1 - p) * (omega / INR n) / p)))
    (f := fun i (x : Rd d) => c / 2 * sq (x -v a i)) (grad := fun i x => c *v (x -v a i)) :
  (1 <= n)%nat -> (1 <= k <= d)%nat -> 0 < c -> 0 < p -> (1 <= T)%nat ->
  forall eps, 0 < eps -> 2 * fmean n f x0 / (gamma * eps) <= INR T ->
  / INR T * sum T (fun t => E (rounds (MARINA.step n grad C b_full b gamma p coin_p) t
    (MARINA.start n grad b_full x0)) (MARINA.squared_gradient n grad)) <= eps.
Proof.
  intros Hn Hk Hc Hp HT eps He H. pose proof (INR_pos n Hn) as Hn0.
  pose proof (rand_k_omega d k Hk) as Ho. fold omega in Ho.
  assert (Hf : forall i, (i < n)%nat -> class (- c) c (f i) (grad i)) by (intros; apply quadratic; lra).
  assert (Hcl := mean_class n (- c) c f grad Hn Hf).
  pose proof (sqrt_pos ((1 - p) * (omega / INR n) / p)) as Hs.
  assert (Hcs : 0 <= c * sqrt ((1 - p) * (omega / INR n) / p)) by (apply Rmult_le_pos; lra).
  apply (MARINA_rand_k n d k f grad 0 b_full b c (fun _ => c) c gamma p coin_p); auto; try lra.
  - intros. lra.
  - rewrite sum_const. field. lra.
  - intros x. apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|].
    apply sum_nonneg. intros. apply Rmult_le_pos; [lra|apply sq_pos].
  - repeat split; try lra; unfold gamma; [apply Rdiv_lt_0_compat; lra|apply Rle_refl].
Qed.

(* DIANA version A with independent rand-k. *)
Theorem DIANA_A_rand_k (n d k : nat) (f : nat -> Rd d -> R) (grad : nat -> Rd d -> Rd d) (xs : Rd d)
    (b mu L_f L gamma alpha : R) (omega := INR d / INR k - 1)
    (C := independent n (fun _ => rand_k d k)) :
  (1 <= n)%nat -> (1 <= k <= d)%nat -> (forall i, (i < n)%nat -> class 0 L (f i) (grad i)) ->
  class mu L_f (fmean n f) (gmean n grad) -> 0 < mu -> 0 < L_f -> 0 < L ->
  (forall x, fmean n f xs <= fmean n f x) ->
  DIANAVersionA.a_conditions L_f L omega (omega / INR n) gamma alpha ->
  forall T x0,
  E (rounds (DIANA.step n grad C b gamma alpha) T (DIANA.start x0))
    (DIANA.Psi n grad xs (omega / INR n) gamma alpha) <=
  DIANAVersionA.a_rate mu gamma alpha ^ T * DIANA.Psi n grad xs (omega / INR n) gamma alpha (DIANA.start x0).
Proof.
  intros Hn Hk Hi Hf Hmu HLf HL Hmin Hc T x0.
  assert (Ho : 0 <= omega) by now apply rand_k_omega.
  apply (DIANAVersionA.a_T_rounds n f grad xs C b mu L_f L omega (omega / INR n)); auto.
  - now apply rand_k_messages.
  - apply Rmult_le_pos; [auto|]. left. apply Rinv_0_lt_compat. now apply INR_pos.
Qed.

(* Unscaled rand-k: alpha = k/d. *)
Lemma share_1 d k : (1 <= k <= d)%nat -> INR k / INR d <= 1.
Proof.
  intros Hk. assert (0 < INR d) by (apply lt_0_INR; lia). assert (INR k <= INR d) by (apply le_INR; lia).
  apply (Rmult_le_reg_r (INR d)); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Theorem EF21_rand_k (n d k : nat) (f : nat -> Rd d -> R) (grad : nat -> Rd d -> Rd d) (fs b : R)
    (L_f : R) (L : nat -> R) (L_tilde gamma : R) (alpha := INR k / INR d)
    (C := independent n (fun _ => rand_k_biased d k)) :
  (1 <= n)%nat -> (1 <= k <= d)%nat ->
  class (- L_f) L_f (fmean n f) (gmean n grad) ->
  (forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i)) ->
  0 < L_f -> (forall i, (i < n)%nat -> 0 <= L i) -> 0 <= L_tilde ->
  L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2) -> (forall x, fs <= fmean n f x) ->
  EF21Nonconvex.nonconvex_conditions L_f L_tilde alpha gamma ->
  forall T x0,
  gamma / 2 * sum T (fun t => E (bind (EF21.start n grad C b x0) (rounds (EF21.step n grad C b gamma) t))
    (EF21Nonconvex.squared_gradient n grad)) <=
  E (EF21.start n grad C b x0) (EF21Nonconvex.nonconvex_Psi n f grad fs alpha gamma).
Proof.
  intros Hn Hk Hf Hi HLf HL Ht Ht2 Hb Hc T x0. pose proof (share_1 d k Hk) as H1.
  assert (HC : forall x i, (i < n)%nat -> E (C x) (fun m => sq (m i -v x i)) <= (1 - alpha) * sq (x i)).
  { intros x i Hin. apply (independent_contractions n alpha (fun _ => rand_k_biased d k)); auto.
    now apply rand_k_B. }
  pose proof (EF21Nonconvex.nonconvex_T_rounds n f grad fs C b L_f L L_tilde alpha gamma Hn Hf Hi HLf HL Ht
    Ht2 HC H1 Hc T x0) as HT. unfold EF21Nonconvex.descent in HT.
  assert (0 <= E (bind (EF21.start n grad C b x0) (rounds (EF21.step n grad C b gamma) T))
    (EF21Nonconvex.nonconvex_Psi n f grad fs alpha gamma)); [|lra].
  apply E_nonneg. intros s. eapply EF21Nonconvex.nonconvex_Psi_nonneg; eauto.
Qed.

Theorem CompressedGD_rand_k (d k : nat) (f : Rd d -> R) (grad : Rd d -> Rd d) (xs : Rd d)
    (b mu L gamma : R) (alpha := INR k / INR d) (C := independent 1 (fun _ => rand_k_biased d k)) :
  (1 <= k <= d)%nat -> class mu L f grad -> 0 < mu -> mu <= L -> (forall x, f xs <= f x) ->
  CompressedGD.conditions 1 mu L alpha gamma ->
  forall T x0,
  E (rounds (CompressedGD.step 1 (fun _ => grad) C b gamma) T (CompressedGD.start x0))
    (CompressedGD.Psi 1 (fun _ => f) xs) <=
  CompressedGD.rate mu L alpha gamma ^ T * CompressedGD.Psi 1 (fun _ => f) xs (CompressedGD.start x0).
Proof.
  intros Hk Hf Hmu HL Hmin Hc T x0. apply CompressedGD.T_rounds; auto.
  - intros x. unfold fmean. cbn. specialize (Hmin x). lra.
  - intros x i Hi. apply (independent_contractions 1 alpha (fun _ => rand_k_biased d k)); auto.
    now apply rand_k_B.
  - now apply share_1.
Qed.
