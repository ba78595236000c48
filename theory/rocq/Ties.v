(* The cards and the code of the methods (Cards.v, written by the package) state the theorems of methods/. *)
From Certibit Require Import Functions Compressors Rounds Cards.
From Certibit.methods Require AGD CompressedGD DASHA DIANA DIANANonconvex DIANAVersionA EControl EF EF21 EF21Nonconvex EF21Tight EFBV EFNonconvex GD LSVRG LoCoDL LoCoDLPlain LoCoDLRandK MARINA PAGE SGD Scaffnew VRMARINA.

Section Ties.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha gamma chi rho p q a ridge eta lambda_ nu share : R) (coin_p : 0 <= p <= 1).

(* Gradient descent. *)
Goal GD_GradientDescent.card_conditions L_f gamma = GD.conditions L_f gamma. reflexivity. Qed.
Goal GD_GradientDescent.card_rate mu L_f gamma = GD.rate mu L_f gamma. reflexivity. Qed.
Goal forall s, GD_GradientDescent.card_Psi xs s = GD.Psi xs s.
Proof. intros; apply Rmult_1_l. Qed.
Goal forall x0 : V, GD_GradientDescent.code_start x0 = ret (GD.start x0). reflexivity. Qed.
Goal forall s, GD_GradientDescent.code_step n grad b gamma s = GD.step n grad b gamma s. reflexivity. Qed.

Goal GD_GradientDescentNonconvex.card_conditions L_f gamma = GD.nonconvex_conditions L_f gamma. reflexivity. Qed.
Goal GD_GradientDescentNonconvex.card_descent L_f gamma = GD.nonconvex_descent L_f gamma. reflexivity. Qed.
Goal forall s, GD_GradientDescentNonconvex.card_Psi n f fs s = GD.gap n f fs s.
Proof. intros; apply Rmult_1_l. Qed.
Goal forall x0 : V, GD_GradientDescentNonconvex.code_start x0 = ret (GD.start x0). reflexivity. Qed.
Goal forall s, GD_GradientDescentNonconvex.code_step n grad b gamma s = GD.step n grad b gamma s. reflexivity. Qed.

Goal GD_ApproachConvex.card_conditions L_f gamma = GD.convex_conditions L_f gamma. reflexivity. Qed.
Goal GD_ApproachConvex.card_descent gamma = GD.convex_descent gamma. reflexivity. Qed.
Goal forall s, GD_ApproachConvex.card_Psi xs s = GD.Psi xs s.
Proof. intros; apply Rmult_1_l. Qed.
Goal forall x0 : V, GD_ApproachConvex.code_start x0 = ret (GD.start x0). reflexivity. Qed.
Goal forall s, GD_ApproachConvex.code_step n grad b gamma s = GD.step n grad b gamma s. reflexivity. Qed.

(* Stochastic gradient descent; the noise is that of its theorems, beside sigma^2. *)
Goal SGD_BoundedVariance.card_conditions mu L_f gamma = SGD.conditions mu L_f gamma. reflexivity. Qed.
Goal SGD_BoundedVariance.card_rate mu gamma = SGD.rate mu gamma. reflexivity. Qed.
Goal SGD_BoundedVariance.card_noise n gamma = gamma ^ 2 / INR n. reflexivity. Qed.
Goal forall s, SGD_BoundedVariance.card_Psi xs s = SGD.Psi xs s.
Proof. intros; apply Rmult_1_l. Qed.
Goal forall x0 : V, SGD_BoundedVariance.code_start x0 = ret (SGD.start x0). reflexivity. Qed.
Goal forall s, SGD_BoundedVariance.code_step n G b_full gamma s = SGD.step n b_full gamma G s. reflexivity. Qed.

Goal SGD_ExpectedSmoothness.card_conditions n L_f A gamma = SGD.expected_conditions n L_f A gamma. reflexivity. Qed.
Goal SGD_ExpectedSmoothness.card_rate mu gamma = SGD.expected_rate mu gamma. reflexivity. Qed.
Goal SGD_ExpectedSmoothness.card_noise n gamma = 2 * gamma ^ 2 / INR n. reflexivity. Qed.
Goal forall s, SGD_ExpectedSmoothness.card_Psi xs s = SGD.Psi xs s.
Proof. intros; apply Rmult_1_l. Qed.
Goal forall x0 : V, SGD_ExpectedSmoothness.code_start x0 = ret (SGD.start x0). reflexivity. Qed.
Goal forall s, SGD_ExpectedSmoothness.code_step n G b_full gamma s = SGD.step n b_full gamma G s. reflexivity. Qed.

Goal SGD_StochasticGradientDescent.card_conditions L_f gamma = SGD.nonconvex_conditions L_f gamma. reflexivity. Qed.
Goal SGD_StochasticGradientDescent.card_descent L_f gamma = gamma * (1 - gamma * L_f / 2). reflexivity. Qed.
Goal SGD_StochasticGradientDescent.card_noise n L_f gamma = gamma ^ 2 * L_f / (2 * INR n). reflexivity. Qed.
Goal forall s, SGD_StochasticGradientDescent.card_Psi n f fs s = SGD.gap n f fs s.
Proof. intros; apply Rmult_1_l. Qed.
Goal forall x0 : V, SGD_StochasticGradientDescent.code_start x0 = ret (SGD.start x0). reflexivity. Qed.
Goal forall s, SGD_StochasticGradientDescent.code_step n G b_full gamma s = SGD.step n b_full gamma G s. reflexivity. Qed.

Goal SGD_StochasticApproachConvex.card_conditions L_f gamma = GD.convex_conditions L_f gamma. reflexivity. Qed.
Goal SGD_StochasticApproachConvex.card_descent gamma = 2 * gamma. reflexivity. Qed.
Goal SGD_StochasticApproachConvex.card_noise n gamma = gamma ^ 2 / INR n. reflexivity. Qed.
Goal forall s, SGD_StochasticApproachConvex.card_Psi xs s = SGD.Psi xs s.
Proof. intros; apply Rmult_1_l. Qed.
Goal forall x0 : V, SGD_StochasticApproachConvex.code_start x0 = ret (SGD.start x0). reflexivity. Qed.
Goal forall s, SGD_StochasticApproachConvex.code_step n G b_full gamma s = SGD.step n b_full gamma G s. reflexivity. Qed.

(* PAGE and L-SVRG. *)
Goal PAGE_SampledDifferences.card_conditions n L_f difference gamma p = PAGE.conditions n L_f difference gamma p. reflexivity. Qed.
Goal PAGE_SampledDifferences.card_descent gamma = PAGE.descent gamma. reflexivity. Qed.
Goal PAGE_SampledDifferences.card_noise = 0. reflexivity. Qed.
Goal forall s, PAGE_SampledDifferences.card_Psi n f grad fs gamma p s = PAGE.Psi n f grad fs gamma p s.
Proof. intros; unfold PAGE_SampledDifferences.card_Psi, PAGE.Psi, gmean; ring. Qed.
Goal forall x0 : V, PAGE_SampledDifferences.code_start n grad b_full x0 = ret (PAGE.start n grad b_full x0). reflexivity. Qed.
Goal forall s, PAGE_SampledDifferences.code_step n grad G b_full gamma p coin_p s = PAGE.step n grad b_full gamma p coin_p G s.
reflexivity. Qed.

Goal LSVRG_ReferencePoint.card_conditions n L_f A gamma p = LSVRG.conditions n L_f A gamma p. reflexivity. Qed.
Goal LSVRG_ReferencePoint.card_rate mu gamma p = LSVRG.rate mu gamma p. reflexivity. Qed.
Goal LSVRG_ReferencePoint.card_noise = 0. reflexivity. Qed.
Goal forall s, LSVRG_ReferencePoint.card_Psi n f xs fs L A gamma p s = LSVRG.Psi n f xs fs L A gamma p s.
Proof. intros; unfold LSVRG_ReferencePoint.card_Psi, LSVRG.Psi, LSVRG.weight; ring. Qed.
Goal forall x0 : V, LSVRG_ReferencePoint.code_start n grad b_full x0 = ret (LSVRG.start n grad b_full x0). reflexivity. Qed.
Goal forall s, LSVRG_ReferencePoint.code_step n grad G b_full gamma p coin_p s = LSVRG.step n grad b_full gamma p coin_p G s.
reflexivity. Qed.

(* VR-MARINA. *)
Goal VRMARINA_CompressedSampledDifferences.card_conditions n L_f L_tilde difference omega_av gamma p =
  VRMARINA.conditions n L_f L_tilde difference omega_av gamma p. reflexivity. Qed.
Goal VRMARINA_CompressedSampledDifferences.card_descent gamma = VRMARINA.descent gamma. reflexivity. Qed.
Goal VRMARINA_CompressedSampledDifferences.card_noise = 0. reflexivity. Qed.
Goal forall s, VRMARINA_CompressedSampledDifferences.card_Psi n f grad fs gamma p s = VRMARINA.Psi n f grad fs gamma p s.
Proof. intros; unfold VRMARINA_CompressedSampledDifferences.card_Psi, VRMARINA.Psi, gmean; ring. Qed.
Goal forall x0 : V, VRMARINA_CompressedSampledDifferences.code_start n grad b_full x0 = ret (VRMARINA.start n grad b_full x0).
reflexivity. Qed.
Goal forall s, VRMARINA_CompressedSampledDifferences.code_step n grad C G b b_full gamma p coin_p s =
  VRMARINA.step n grad C b_full b gamma p coin_p G s. reflexivity. Qed.

(* Accelerated gradient descent. *)
Goal AGD_Accelerated.card_conditions mu L_f gamma q = AGD.conditions mu L_f gamma q. reflexivity. Qed.
Goal AGD_Accelerated.card_rate q = AGD.rate q. reflexivity. Qed.
Goal forall s, AGD_Accelerated.card_Psi n f xs fs gamma q s = AGD.Psi n f xs fs gamma q s.
Proof. intros; unfold AGD_Accelerated.card_Psi, AGD.Psi, AGD.z; ring. Qed.
Goal forall x0 : V, AGD_Accelerated.code_start x0 = ret (AGD.start x0). reflexivity. Qed.
Goal forall s, AGD_Accelerated.code_step n grad b_full gamma q s = AGD.step n grad b_full gamma q s. reflexivity. Qed.

(* EF-BV. *)
Goal EFBV_BiasAndVariance.card_conditions L_f L_tilde omega omega_av gamma eta lambda_ nu =
  EFBV.conditions L_f L_tilde eta omega omega_av gamma lambda_ nu. reflexivity. Qed.
Goal EFBV_BiasAndVariance.card_rate mu omega gamma eta lambda_ = EFBV.rate mu eta omega gamma lambda_. reflexivity. Qed.
Goal forall s, EFBV_BiasAndVariance.card_Psi n f grad fs omega omega_av gamma eta lambda_ nu s =
  EFBV.Psi n f grad fs eta omega omega_av gamma lambda_ nu s.
Proof.
  intros; unfold EFBV_BiasAndVariance.card_Psi, EFBV.Psi, EFBV.errors, EFBV.shifts, EFBV.apart, EFBV.weight, EFBV.left,
    EFBV.root, gmean, Rdiv. ring.
Qed.
Goal forall x0 : V, EFBV_BiasAndVariance.code_start n grad C b lambda_ nu x0 = EFBV.start n grad C b lambda_ nu x0.
reflexivity. Qed.
Goal forall s, EFBV_BiasAndVariance.code_step n grad C b gamma lambda_ nu s = EFBV.step n grad C b gamma lambda_ nu s.
reflexivity. Qed.

Goal EFBV_BiasAndVarianceNonconvex.card_conditions L_f L_tilde omega omega_av gamma eta lambda_ nu =
  EFBV.conditions L_f L_tilde eta omega omega_av gamma lambda_ nu. reflexivity. Qed.
Goal EFBV_BiasAndVarianceNonconvex.card_descent gamma = EFBV.descent gamma. reflexivity. Qed.
Goal forall s, EFBV_BiasAndVarianceNonconvex.card_Psi n f grad fs omega omega_av gamma eta lambda_ nu s =
  EFBV_BiasAndVariance.card_Psi n f grad fs omega omega_av gamma eta lambda_ nu s. reflexivity. Qed.
Goal forall x0 : V, EFBV_BiasAndVarianceNonconvex.code_start n grad C b lambda_ nu x0 =
  EFBV.start n grad C b lambda_ nu x0. reflexivity. Qed.
Goal forall s, EFBV_BiasAndVarianceNonconvex.code_step n grad C b gamma lambda_ nu s =
  EFBV.step n grad C b gamma lambda_ nu s. reflexivity. Qed.

(* Compressed gradient descent. *)
Goal CompressedGD_InexactGradients.card_conditions n mu L alpha gamma <-> CompressedGD.conditions n mu L alpha gamma.
Proof.
  unfold CompressedGD_InexactGradients.card_conditions, CompressedGD.conditions.
  now rewrite Rplus_0_l.
Qed.
Goal CompressedGD_InexactGradients.card_rate mu L alpha gamma = CompressedGD.rate mu L alpha gamma. reflexivity. Qed.
Goal fs = fmean n f xs -> forall s, CompressedGD_InexactGradients.card_Psi n f fs s = CompressedGD.Psi n f xs s.
Proof. intros -> s; apply Rmult_1_l. Qed.
Goal forall x0 : V, CompressedGD_InexactGradients.code_start x0 = ret (CompressedGD.start x0). reflexivity. Qed.
Goal forall s, CompressedGD_InexactGradients.code_step n grad C b gamma s = CompressedGD.step n grad C b gamma s.
reflexivity. Qed.

(* DIANA. *)
Goal DIANA_VersionA.card_conditions L L_f omega omega_av alpha gamma =
  DIANAVersionA.a_conditions L_f L omega omega_av gamma alpha. reflexivity. Qed.
Goal DIANA_VersionA.card_rate mu alpha gamma = DIANAVersionA.a_rate mu gamma alpha. reflexivity. Qed.
Goal forall s, DIANA_VersionA.card_Psi n grad xs omega_av alpha gamma s = DIANA.Psi n grad xs omega_av gamma alpha s.
Proof. intros; unfold DIANA_VersionA.card_Psi, DIANA.Psi, DIANA.potential, Rdiv; ring. Qed.
Goal forall x0 : V, DIANA_VersionA.code_start x0 = ret (DIANA.start x0). reflexivity. Qed.
Goal forall s, DIANA_VersionA.code_step n grad C b alpha gamma s = DIANA.step n grad C b gamma alpha s. reflexivity. Qed.

Goal DIANA_VersionB.card_conditions mu L omega omega_av alpha gamma =
  DIANA.conditions mu L omega omega_av gamma alpha. reflexivity. Qed.
Goal DIANA_VersionB.card_rate mu L alpha gamma = DIANA.rate mu L gamma alpha. reflexivity. Qed.
Goal forall s, DIANA_VersionB.card_Psi n grad xs omega_av alpha gamma s = DIANA.Psi n grad xs omega_av gamma alpha s.
Proof. intros; unfold DIANA_VersionB.card_Psi, DIANA.Psi, DIANA.potential, Rdiv; ring. Qed.
Goal forall x0 : V, DIANA_VersionB.code_start x0 = ret (DIANA.start x0). reflexivity. Qed.
Goal forall s, DIANA_VersionB.code_step n grad C b alpha gamma s = DIANA.step n grad C b gamma alpha s. reflexivity. Qed.

Goal DIANA_CoupledShifts.card_conditions mu L omega omega_av alpha gamma =
  DIANA.coupled_conditions mu L omega omega_av gamma alpha. reflexivity. Qed.
Goal DIANA_CoupledShifts.card_rate mu L gamma = DIANA.coupled_rate mu L gamma. reflexivity. Qed.
Goal DIANA_CoupledShifts.card_conditions mu L omega omega_av alpha gamma ->
  forall s, DIANA_CoupledShifts.card_Psi n grad xs mu L omega_av alpha gamma s =
    DIANA.coupled_Psi n grad xs mu L omega_av gamma alpha s.
Proof.
  intros (Hr & _ & _ & Ha & _) s.
  unfold DIANA_CoupledShifts.card_Psi, DIANA.coupled_Psi, DIANA.potential, DIANA.ratio, DIANA.rho.
  set (r := 2 * gamma * mu * L / (mu + L)) in *.
  assert (H : 0 < 1 - r / alpha).
  { replace (1 - r / alpha) with ((alpha - r) / alpha) by (field; lra). apply Rdiv_lt_0_compat; lra. }
  pose proof (sqrt_lt_R0 _ H) as Hq. set (t := sqrt _) in *. clearbody t r.
  replace ((1 - r / alpha) * alpha) with (alpha - r) by (field; lra).
  replace (/ (1 / t)) with t by (field; lra). unfold Rdiv; ring.
Qed.
Goal forall x0 : V, DIANA_CoupledShifts.code_start x0 = ret (DIANA.start x0). reflexivity. Qed.
Goal forall s, DIANA_CoupledShifts.code_step n grad C b alpha gamma s = DIANA.step n grad C b gamma alpha s. reflexivity. Qed.

Goal DIANA_ConvexShifts.card_conditions L omega omega_av alpha gamma =
  DIANA.convex_conditions L omega omega_av gamma alpha. reflexivity. Qed.
Goal DIANA_ConvexShifts.card_descent gamma = 2 * gamma. reflexivity. Qed.
Goal forall s, DIANA_ConvexShifts.card_Psi n grad xs omega_av alpha gamma s = DIANA.convex_Psi n grad xs omega_av gamma alpha s.
Proof. intros; unfold DIANA_ConvexShifts.card_Psi, DIANA.convex_Psi, DIANA.potential, Rdiv; ring. Qed.
Goal forall x0 : V, DIANA_ConvexShifts.code_start x0 = ret (DIANA.start x0). reflexivity. Qed.
Goal forall s, DIANA_ConvexShifts.code_step n grad C b alpha gamma s = DIANA.step n grad C b gamma alpha s. reflexivity. Qed.

Goal DIANA_SmoothShifts.card_conditions L omega omega_av alpha gamma =
  DIANANonconvex.nonconvex_conditions L omega omega_av gamma alpha. reflexivity. Qed.
Goal DIANA_SmoothShifts.card_descent L omega_av alpha gamma =
  DIANANonconvex.nonconvex_descent L omega_av gamma alpha. reflexivity. Qed.
Goal forall s, DIANA_SmoothShifts.card_Psi n f grad fs L omega_av alpha gamma s =
  DIANANonconvex.nonconvex_Psi n f grad fs L omega_av gamma alpha s.
Proof.
  intros; unfold DIANA_SmoothShifts.card_Psi, DIANANonconvex.nonconvex_Psi, DIANANonconvex.shift_weight, Rdiv; ring.
Qed.
Goal forall x0 : V, DIANA_SmoothShifts.code_start x0 = ret (DIANA.start x0). reflexivity. Qed.
Goal forall s, DIANA_SmoothShifts.code_step n grad C b alpha gamma s = DIANA.step n grad C b gamma alpha s. reflexivity. Qed.

(* LoCoDL. *)
Goal LoCoDL_Theorem31.card_conditions L omega omega_av omega_C gamma chi rho p =
  LoCoDL.conditions L omega_C omega_av gamma chi rho p omega. reflexivity. Qed.
Goal LoCoDL_Theorem31.card_rate mu L omega gamma chi p = LoCoDL.rate mu L omega gamma chi p. reflexivity. Qed.
Goal same ((-1) *v vmean n (fun i => grad i xs)) (grad_g xs) -> forall s,
  LoCoDL_Theorem31.card_Psi n grad xs omega gamma chi p s = LoCoDL.Psi n grad grad_g xs omega gamma chi p s.
Proof.
  intros H s. unfold LoCoDL_Theorem31.card_Psi, LoCoDL.Psi, LoCoDL.weight, Rdiv.
  rewrite (same_sq_sub_r _ _ (LoCoDL.v s) H). ring.
Qed.
Goal forall x0 : V, LoCoDL_Theorem31.code_start x0 = ret (LoCoDL.start x0). reflexivity. Qed.
Goal forall s, LoCoDL_Theorem31.code_step n grad grad_g C b omega gamma chi rho p coin_p s =
  LoCoDL.step n grad grad_g C b omega gamma chi rho p coin_p s. reflexivity. Qed.

(* Section 3.1: the card has the constants of the f_i without g, whose modulus is mu. *)
Goal LoCoDL_Section31.card_conditions mu L omega omega_av omega_C gamma chi rho p ridge ->
  ridge = mu /\ LoCoDLPlain.plain_conditions (mu + ridge) (L + ridge) omega_C omega_av gamma chi rho p omega.
Proof. intros (H1 & H2 & H3 & H4 & H5 & H6 & H7 & H8 & H9). split; [lra|]. repeat split; auto. Qed.
Goal LoCoDL_Section31.card_rate mu L omega gamma chi p ridge =
  LoCoDLPlain.plain_rate (mu + ridge) (L + ridge) omega gamma chi p. reflexivity. Qed.
Goal let new := LoCoDLPlain.plain_grad grad mu in
  same ((-1) *v vmean n (fun i => new i xs)) (LoCoDLPlain.ridge_grad (mu / 2) xs) -> forall s,
  LoCoDL_Section31.card_Psi n new xs omega gamma chi p s = LoCoDLPlain.plain_Psi n grad xs mu gamma chi p omega s.
Proof.
  intros new H s; subst new. unfold LoCoDL_Section31.card_Psi, LoCoDLPlain.plain_Psi, LoCoDL.Psi, LoCoDL.weight.
  rewrite (same_sq_sub_r _ _ (LoCoDL.v s) H). unfold Rdiv. ring.
Qed.
Goal forall x0 : V, LoCoDL_Section31.code_start x0 = ret (LoCoDL.start x0). reflexivity. Qed.
Goal forall s, LoCoDL_Section31.code_step n (LoCoDLPlain.plain_grad grad mu) (LoCoDLPlain.ridge_grad (mu / 2))
  C b omega gamma chi rho p coin_p s = LoCoDLPlain.plain_step n grad C b mu gamma chi rho p omega coin_p s.
reflexivity. Qed.

(* Corollary 3.2, for compressors with the omega_C/n of independent ones. *)
Goal LoCoDL_Corollary32.card_conditions n d mu L omega (omega_C / INR n) omega_C gamma chi rho p <->
  omega_C = LoCoDLRandK.variance n d /\ LoCoDLRandK.corollary_conditions n d mu L gamma chi rho p omega.
Proof.
  unfold LoCoDL_Corollary32.card_conditions, LoCoDLRandK.corollary_conditions, LoCoDL.conditions,
    LoCoDLRandK.variance, LoCoDLRandK.relaxation, LoCoDLRandK.probability. split.
  - intros (H1 & H2 & H3 & H4 & H5 & H6 & H7 & H8 & _ & _ & H9 & H10 & H11 & H12 & H13 & H14 & H15 & H16).
    assert (Ho : omega_C = INR d / INR (LoCoDLRandK.ceiling d n) - 1) by lra. rewrite <- Ho.
    repeat split; auto; now apply Rle_antisym.
  - intros (Ho & ((H1 & H2 & H3 & H4 & H5 & H6 & H7) & H8 & H9 & H10 & H11)). rewrite <- Ho in H6, H7.
    repeat split; auto; lra.
Qed.
Goal LoCoDL_Corollary32.card_rate mu L omega gamma chi p = LoCoDL.rate mu L omega gamma chi p. reflexivity. Qed.
Goal forall s, LoCoDL_Corollary32.card_Psi n grad xs omega gamma chi p s =
  LoCoDL_Theorem31.card_Psi n grad xs omega gamma chi p s. reflexivity. Qed.
Goal forall x0 : V, LoCoDL_Corollary32.code_start x0 = ret (LoCoDL.start x0). reflexivity. Qed.
Goal forall s, LoCoDL_Corollary32.code_step n grad grad_g C b omega gamma chi rho p coin_p s =
  LoCoDL.step n grad grad_g C b omega gamma chi rho p coin_p s. reflexivity. Qed.

(* Scaffnew. *)
Goal Scaffnew_Sharper.card_conditions L gamma p = Scaffnew.conditions L gamma p. reflexivity. Qed.
Goal Scaffnew_Sharper.card_rate mu L gamma p = Scaffnew.rate mu L gamma p. reflexivity. Qed.
Goal forall s, Scaffnew_Sharper.card_Psi n grad xs gamma p s = Scaffnew.Psi n grad xs gamma p s.
Proof. intros; unfold Scaffnew_Sharper.card_Psi, Scaffnew.Psi; ring. Qed.
Goal forall x0 : V, Scaffnew_Sharper.code_start x0 = ret (Scaffnew.start x0). reflexivity. Qed.
Goal forall s, Scaffnew_Sharper.code_step n grad b_full gamma p coin_p s =
  Scaffnew.step n grad b_full gamma p coin_p s. reflexivity. Qed.

Goal Scaffnew_Original.card_conditions L gamma p = Scaffnew.original_conditions L gamma p. reflexivity. Qed.
Goal Scaffnew_Original.card_rate mu gamma p = Scaffnew.original_rate mu gamma p. reflexivity. Qed.
Goal forall s, Scaffnew_Original.card_Psi n grad xs gamma p s = Scaffnew.Psi n grad xs gamma p s.
Proof. intros; unfold Scaffnew_Original.card_Psi, Scaffnew.Psi; ring. Qed.
Goal forall x0 : V, Scaffnew_Original.code_start x0 = ret (Scaffnew.start x0). reflexivity. Qed.
Goal forall s, Scaffnew_Original.code_step n grad b_full gamma p coin_p s =
  Scaffnew.step n grad b_full gamma p coin_p s. reflexivity. Qed.

(* EF. *)
Goal EF_Feedback.card_conditions mu L alpha gamma <-> EF.conditions mu L alpha gamma.
Proof. unfold EF_Feedback.card_conditions. split; [now intros (_ & H)|now split; [apply Rle_refl|]]. Qed.
Goal EF_Feedback.card_rate mu L alpha gamma = Feedback.feedback_factor mu L (sqrt (1 - alpha)) gamma. reflexivity. Qed.
Goal forall s, EF_Feedback.card_Psi n xs alpha s = EF.Psi n xs alpha s.
Proof. intros; unfold EF_Feedback.card_Psi, EF.Psi, Rdiv; rewrite Rinv_mult; change (fun i => EF.e s i) with (EF.e s); ring. Qed.
Goal forall x0 : V, EF_Feedback.code_start x0 = ret (EF.start x0). reflexivity. Qed.
Goal forall s, EF_Feedback.code_step n grad C b gamma s = EF.step n grad C b gamma s. reflexivity. Qed.

(* EF for smooth f_i; zeta^2 counts as much as the card says for n > 1, and for n = 1 there is zeta = 0. *)
Goal EF_VirtualModel.card_conditions L alpha gamma = EFNonconvex.nonconvex_conditions L alpha gamma. reflexivity. Qed.
Goal EF_VirtualModel.card_descent L alpha gamma = EFNonconvex.nonconvex_descent L alpha gamma. reflexivity. Qed.
Goal EF_VirtualModel.card_dissimilarity L alpha gamma = EFNonconvex.dissimilarity L alpha gamma. reflexivity. Qed.
Goal forall s, EF_VirtualModel.card_Psi n f fs L alpha gamma s = EFNonconvex.nonconvex_Psi n f fs L alpha gamma s.
Proof.
  intros; unfold EF_VirtualModel.card_Psi, EFNonconvex.nonconvex_Psi, EFNonconvex.virtual,
    EFNonconvex.nonconvex_weight. change (fun i => EF.e s i) with (EF.e s). set (w := gamma * L ^ 2 / _). unfold Rdiv; ring.
Qed.
Goal forall x0 : V, EF_VirtualModel.code_start x0 = ret (EF.start x0). reflexivity. Qed.
Goal forall s, EF_VirtualModel.code_step n grad C b gamma s = EF.step n grad C b gamma s. reflexivity. Qed.

(* EControl. *)
Goal EControl_ErrorControl.card_conditions mu L_f L_tilde alpha gamma share =
  EControl.conditions mu L_f L_tilde alpha gamma share. reflexivity. Qed.
Goal EControl_ErrorControl.card_rate mu gamma = EControl.rate mu gamma. reflexivity. Qed.
Goal forall s, EControl_ErrorControl.card_Psi n f grad fs alpha gamma share s = EControl.potential n f grad fs alpha share gamma s.
Proof.
  intros; unfold EControl_ErrorControl.card_Psi, EControl.potential, EControl.errors, EControl.P, EControl.Q.
  change (fun i => EControl.e s i) with (EControl.e s).
  change ((1 + share) * Rmax _ _) with (EControl.a (sqrt (1 - alpha)) share).
  change (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) with (EControl.v (sqrt (1 - alpha)) share).
  unfold EControl.shifted, Rdiv. ring.
Qed.
Goal forall x0 : V, EControl_ErrorControl.code_start n grad C b x0 = EControl.start n grad C b x0. reflexivity. Qed.
Goal forall s, EControl_ErrorControl.code_step n grad C b gamma share s = EControl.step n grad C b gamma share s. reflexivity. Qed.

Goal EControl_ErrorControlNonconvex.card_conditions L_f L_tilde alpha gamma share =
  EControl.nonconvex_conditions L_f L_tilde alpha gamma share. reflexivity. Qed.
Goal EControl_ErrorControlNonconvex.card_descent gamma = EControl.descent gamma. reflexivity. Qed.
Goal forall s, EControl_ErrorControlNonconvex.card_Psi n f grad fs alpha gamma share s =
  EControl.potential n f grad fs alpha share (gamma / 2) s.
Proof.
  intros; unfold EControl_ErrorControlNonconvex.card_Psi, EControl.potential, EControl.errors, EControl.P, EControl.Q.
  change (fun i => EControl.e s i) with (EControl.e s).
  change ((1 + share) * Rmax _ _) with (EControl.a (sqrt (1 - alpha)) share).
  change (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) with (EControl.v (sqrt (1 - alpha)) share).
  unfold EControl.shifted, Rdiv. ring.
Qed.
Goal forall x0 : V, EControl_ErrorControlNonconvex.code_start n grad C b x0 = EControl.start n grad C b x0. reflexivity. Qed.
Goal forall s, EControl_ErrorControlNonconvex.code_step n grad C b gamma share s = EControl.step n grad C b gamma share s.
reflexivity. Qed.

(* EF21. *)
Goal alpha <= 1 -> EF21_ErrorFeedback.card_conditions mu L_f L_tilde alpha gamma <->
  EF21.conditions mu L_f L_tilde alpha gamma.
Proof. intros H. apply EF21.card_step_size. exact H. Qed.
Goal EF21_ErrorFeedback.card_rate mu gamma = EF21.rate mu gamma. reflexivity. Qed.
Goal forall s, EF21_ErrorFeedback.card_Psi n f grad fs alpha gamma s = EF21.Psi n f grad fs alpha gamma s.
Proof. intros; unfold EF21_ErrorFeedback.card_Psi, EF21.Psi, EF21.theta, Rdiv; ring. Qed.
Goal forall x0 : V, EF21_ErrorFeedback.code_start n grad C b x0 = EF21.start n grad C b x0. reflexivity. Qed.
Goal forall s, EF21_ErrorFeedback.code_step n grad C b gamma s = EF21.step n grad C b gamma s. reflexivity. Qed.

Goal EF21_TightErrorFeedback.card_conditions mu L alpha gamma = EF21Tight.tight_conditions mu L alpha gamma. reflexivity. Qed.
Goal EF21_TightErrorFeedback.card_rate mu L alpha gamma = Feedback.feedback_factor mu L (sqrt (1 - alpha)) gamma. reflexivity. Qed.
Goal (forall z, dot (vmean n (fun i => grad i xs)) z = 0) ->
  forall s, EF21_TightErrorFeedback.card_Psi n grad xs alpha s = EF21Tight.tight_Psi n grad alpha s.
Proof.
  intros H s; unfold EF21_TightErrorFeedback.card_Psi, EF21Tight.tight_Psi, Rdiv.
  rewrite (same_sq (_ -v _) (gmean n grad (EF21.x s))); [ring|].
  intros z. rewrite dot_sub_l, H. unfold gmean. ring.
Qed.
Goal forall x0 : V, EF21_TightErrorFeedback.code_start n grad C b x0 = EF21.start n grad C b x0. reflexivity. Qed.
Goal forall s, EF21_TightErrorFeedback.code_step n grad C b gamma s = EF21.step n grad C b gamma s. reflexivity. Qed.

Goal alpha <= 1 -> EF21_ErrorFeedbackNonconvex.card_conditions L_f L_tilde alpha gamma <->
  EF21Nonconvex.nonconvex_conditions L_f L_tilde alpha gamma.
Proof. intros H. apply EF21Nonconvex.card_nonconvex_step_size. exact H. Qed.
Goal EF21_ErrorFeedbackNonconvex.card_descent gamma = EF21Nonconvex.descent gamma. reflexivity. Qed.
Goal forall s, EF21_ErrorFeedbackNonconvex.card_Psi n f grad fs alpha gamma s =
  EF21Nonconvex.nonconvex_Psi n f grad fs alpha gamma s.
Proof. intros; unfold EF21_ErrorFeedbackNonconvex.card_Psi, EF21Nonconvex.nonconvex_Psi, EF21.theta; set (w := gamma / (2 * _)); unfold Rdiv; ring. Qed.
Goal forall x0 : V, EF21_ErrorFeedbackNonconvex.code_start n grad C b x0 = EF21.start n grad C b x0. reflexivity. Qed.
Goal forall s, EF21_ErrorFeedbackNonconvex.code_step n grad C b gamma s = EF21.step n grad C b gamma s. reflexivity. Qed.

(* DASHA. *)
Goal DASHA_CorrectedDifferences.card_conditions mu L_f L_tilde omega omega_av gamma a =
  DASHA.PL_conditions mu L_f L_tilde omega omega_av gamma a. reflexivity. Qed.
Goal DASHA_CorrectedDifferences.card_rate mu gamma = DASHA.PL_rate mu gamma. reflexivity. Qed.
Goal forall s, DASHA_CorrectedDifferences.card_Psi n f fs omega_av gamma a s = DASHA.PL_Psi n f fs omega_av gamma a s.
Proof.
  intros; unfold DASHA_CorrectedDifferences.card_Psi, DASHA.PL_Psi, DASHA.potential, DASHA.error, DASHA.errors, Rdiv.
  change (fun i => DASHA.gradient s i) with (DASHA.gradient s). ring.
Qed.
Goal forall x0 : V, DASHA_CorrectedDifferences.code_start n grad b_full x0 = ret (DASHA.start n grad b_full x0).
reflexivity. Qed.
Goal forall s, DASHA_CorrectedDifferences.code_step n grad C b gamma a s = DASHA.step n grad C b gamma a s.
reflexivity. Qed.

Goal DASHA_CorrectedDifferencesNonconvex.card_conditions L_f L_tilde omega omega_av gamma a =
  DASHA.conditions L_f L_tilde omega omega_av gamma a. reflexivity. Qed.
Goal DASHA_CorrectedDifferencesNonconvex.card_descent gamma = DASHA.descent gamma. reflexivity. Qed.
Goal forall s, DASHA_CorrectedDifferencesNonconvex.card_Psi n f fs omega omega_av gamma s =
  DASHA.Psi n f fs omega omega_av gamma s.
Proof.
  intros; unfold DASHA_CorrectedDifferencesNonconvex.card_Psi, DASHA.Psi, DASHA.potential, DASHA.error,
    DASHA.errors, Rdiv.
  change (fun i => DASHA.gradient s i) with (DASHA.gradient s). ring.
Qed.
Goal forall x0 : V, DASHA_CorrectedDifferencesNonconvex.code_start n grad b_full x0 =
  ret (DASHA.start n grad b_full x0). reflexivity. Qed.
Goal forall s, DASHA_CorrectedDifferencesNonconvex.code_step n grad C b gamma a s = DASHA.step n grad C b gamma a s.
reflexivity. Qed.

(* MARINA. *)
Lemma nonnegative_noise c : 0 <= c -> 0 <= omega_av -> 0 < p -> p <= 1 ->
  Rmax 0 (c * (1 - p) * omega_av / p) = c * (1 - p) * omega_av / p.
Proof.
  intros. apply Rmax_right. apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat].
  repeat apply Rmult_le_pos; lra.
Qed.
Goal 0 <= omega_av -> MARINA_GradientDifferences.card_conditions mu L_f L_tilde omega_av gamma p <->
  MARINA.PL_conditions mu L_f L_tilde omega_av gamma p.
Proof.
  intros H. unfold MARINA_GradientDifferences.card_conditions, MARINA.PL_conditions.
  split; intros (Hp & Hp1 & Hg & Hs & Hm); repeat split; auto; revert Hs; rewrite nonnegative_noise by lra; auto.
Qed.
Goal MARINA_GradientDifferences.card_rate mu gamma = MARINA.PL_rate mu gamma. reflexivity. Qed.
Goal forall s, MARINA_GradientDifferences.card_Psi n f fs gamma p s = MARINA.PL_Psi n f fs gamma p s.
Proof. intros; apply Rplus_eq_compat_r, Rmult_1_l. Qed.
Goal forall x0 : V, MARINA_GradientDifferences.code_start n grad b_full x0 = ret (MARINA.start n grad b_full x0).
Proof. intros; unfold MARINA_GradientDifferences.code_start, MARINA.start; now rewrite Rplus_0_l. Qed.
Goal forall s, MARINA_GradientDifferences.code_step n grad C b b_full gamma p coin_p s =
  MARINA.step n grad C b_full b gamma p coin_p s. reflexivity. Qed.

Goal 0 <= omega_av -> MARINA_GradientDifferencesNonconvex.card_conditions L_f L_tilde omega_av gamma p <->
  MARINA.conditions L_f L_tilde omega_av gamma p.
Proof.
  intros H. unfold MARINA_GradientDifferencesNonconvex.card_conditions, MARINA.conditions.
  split; intros (Hp & Hp1 & Hg & Hs); repeat split; auto; revert Hs; rewrite nonnegative_noise by lra;
    rewrite Rmult_1_l; auto.
Qed.
Goal MARINA_GradientDifferencesNonconvex.card_descent gamma = MARINA.descent gamma. reflexivity. Qed.
Goal forall s, MARINA_GradientDifferencesNonconvex.card_Psi n f fs gamma p s = MARINA.Psi n f fs gamma p s.
Proof. intros; apply Rplus_eq_compat_r, Rmult_1_l. Qed.
Goal forall x0 : V, MARINA_GradientDifferencesNonconvex.code_start n grad b_full x0 = ret (MARINA.start n grad b_full x0).
Proof. intros; unfold MARINA_GradientDifferencesNonconvex.code_start, MARINA.start; now rewrite Rplus_0_l. Qed.
Goal forall s, MARINA_GradientDifferencesNonconvex.code_step n grad C b b_full gamma p coin_p s =
  MARINA.step n grad C b_full b gamma p coin_p s. reflexivity. Qed.
End Ties.
