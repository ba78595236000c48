(* The axioms of each theorem; only those of the standard reals may be printed. *)
From Certibit Require proofs.
From Certibit.relaxed Require clipped.
From Certibit Require Import Functions Smooth Compressors RandK Feedback Examples NonconvexExamples.
From Certibit.methods Require GD DASHA DIANA DIANANonconvex LoCoDL LoCoDLPlain EF EF21 EF21Tight Scaffnew MARINA EF21Nonconvex CompressedGD
  DIANAVersionA SGD PAGE LSVRG VRMARINA AGD EFBV EFNonconvex LoCoDLRandK EControl.
Print Assumptions cocoercive.
Print Assumptions strongly_convex_class.
Print Assumptions independent_messages.
Print Assumptions rand_k_U.
Print Assumptions feedback.
Print Assumptions GD.accuracy.
Print Assumptions GD.nonconvex_accuracy.
Print Assumptions GD.convex_T_rounds.
Print Assumptions DIANA.accuracy.
Print Assumptions DIANA.coupled_T_rounds.
Print Assumptions DIANA.convex_T_rounds.
Print Assumptions DIANANonconvex.nonconvex_accuracy.
Print Assumptions LoCoDL.accuracy.
Print Assumptions LoCoDLPlain.plain_accuracy.
Print Assumptions EF.accuracy.
Print Assumptions EF21.accuracy.
Print Assumptions EF21Tight.tight_T_rounds.
Print Assumptions Scaffnew.T_rounds.
Print Assumptions Scaffnew.original_T_rounds.
Print Assumptions MARINA.accuracy.
Print Assumptions MARINA.PL_accuracy.
Print Assumptions EF21Nonconvex.nonconvex_accuracy.
Print Assumptions DASHA.accuracy.
Print Assumptions DASHA.PL_accuracy.
Print Assumptions CompressedGD.accuracy.
Print Assumptions DIANAVersionA.a_accuracy.
Print Assumptions SGD.T_rounds.
Print Assumptions SGD.expected_T_rounds.
Print Assumptions SGD.nonconvex_mean.
Print Assumptions SGD.convex_T_rounds.
Print Assumptions PAGE.accuracy.
Print Assumptions LSVRG.accuracy.
Print Assumptions VRMARINA.accuracy.
Print Assumptions AGD.accuracy.
Print Assumptions EFBV.accuracy.
Print Assumptions EFBV.nonconvex_accuracy.
Print Assumptions EFNonconvex.nonconvex_mean.
Print Assumptions LoCoDLRandK.corollary_accuracy.
Print Assumptions LoCoDLRandK.corollary_reals.
Print Assumptions EControl.accuracy.
Print Assumptions EControl.nonconvex_accuracy.
Print Assumptions DIANA_rand_k.
Print Assumptions LoCoDL_rand_k.
Print Assumptions MARINA_quadratics.
Print Assumptions EF21_rand_k.
Print Assumptions CompressedGD_rand_k.
Print Assumptions DIANA_A_rand_k.
Print Assumptions clipped.clipped_sound.
Print Assumptions proofs.descent_sound.
