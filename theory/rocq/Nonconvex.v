(* Steps along an estimate of the gradient of a smooth f: lemmas of MARINA and EF21. *)
From Certibit Require Export Functions Rounds.

Section Estimates.
Context {V : space} {L_f gamma : R} {F : V -> R} {G : V -> V}.

(* F(x - gamma g) by the error |g - grad F(x)|^2 of the estimate. *)
Lemma inexact_step (x g : V) : class (- L_f) L_f F G ->
  F (x -v gamma *v g) <= F x - gamma / 2 * sq (G x) - (gamma / 2 - L_f / 2 * gamma ^ 2) * sq g
    + gamma / 2 * sq (g -v G x).
Proof.
  intros H. pose proof (upper _ _ _ _ H x (x -v gamma *v g)) as Hu.
  replace (dot (G x) (x -v gamma *v g -v x)) with (- gamma * dot (G x) g) in Hu by (expand; ring).
  replace (sq (x -v gamma *v g -v x)) with (gamma ^ 2 * sq g) in Hu by (expand; ring).
  replace (sq (g -v G x)) with (sq g - 2 * dot (G x) g + sq (G x)) by (expand; ring). lra.
Qed.
End Estimates.

(* The mean over the clients of |grad f_i(y) - grad f_i(z)|^2. *)
Lemma mean_lipschitz {V : space} n (f : nat -> V -> R) (grad : nat -> V -> V) (L : nat -> R) L_tilde y z :
  (1 <= n)%nat -> (forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i)) ->
  (forall i, (i < n)%nat -> 0 <= L i) -> L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2) ->
  / INR n * sum n (fun i => sq (grad i y -v grad i z)) <= L_tilde ^ 2 * sq (y -v z).
Proof.
  intros Hn Hc HL ->. rewrite Rmult_assoc, <- sum_scal_r. apply Rmult_le_compat_l.
  - left. now apply Rinv_0_lt_compat, INR_pos.
  - apply sum_le. intros i Hi. pose proof (HL i Hi).
    pose proof (product (Hc i Hi) y z ltac:(lra)) as H1. lra.
Qed.

(* gamma <= 1/(L_f + L_tilde sqrt(s)). *)
Lemma largest_step L_f L_tilde s gamma : 0 < L_f -> 0 <= L_tilde -> 0 <= s -> 0 < gamma ->
  gamma <= 1 / (L_f + L_tilde * sqrt s) -> 0 <= 1 - gamma * L_f - gamma ^ 2 * (L_tilde ^ 2 * s).
Proof.
  intros HL Ht Hs Hg H. pose proof (sqrt_pos s) as Hq.
  replace (L_tilde ^ 2 * s) with ((L_tilde * sqrt s) ^ 2)
    by (rewrite Rpow_mult_distr, pow2_sqrt by auto; ring).
  set (c := L_tilde * sqrt s) in *. assert (Hc : 0 <= c) by (now apply Rmult_le_pos). clearbody c.
  assert (Hgc : gamma * (L_f + c) <= 1).
  { apply (Rmult_le_compat_r (L_f + c)) in H; [|lra]. unfold Rdiv in H.
    rewrite Rmult_assoc, Rinv_l in H by lra. lra. }
  assert (0 <= gamma * c) by (apply Rmult_le_pos; lra).
  assert (0 <= gamma * L_f) by (apply Rmult_le_pos; lra).
  replace (gamma ^ 2 * c ^ 2) with ((gamma * c) * (gamma * c)) by ring. nra.
Qed.

(* Rounds until the mean of the gaps is at most eps. *)
Lemma average c psi eps T a : 0 < c -> 0 < eps -> (1 <= T)%nat -> c * sum T a <= psi ->
  psi / (c * eps) <= INR T -> / INR T * sum T a <= eps.
Proof.
  intros Hc He HT Hs H. pose proof (INR_pos T HT) as Hp.
  assert (Hce : 0 < c * eps) by now apply Rmult_lt_0_compat.
  apply (Rmult_le_compat_r (c * eps)) in H; [|lra].
  unfold Rdiv in H. rewrite Rmult_assoc, Rinv_l in H by lra.
  apply (Rmult_le_reg_l (c * INR T)); [now apply Rmult_lt_0_compat|].
  replace (c * INR T * (/ INR T * sum T a)) with (c * sum T a) by (field; lra). lra.
Qed.
