(* The theorems on R^d with independent rand-k, and for quadratics, which meet all hypotheses. *)
From Certibit Require Import Functions Rounds RandK.
From Certibit.methods Require GD DIANA LoCoDL EF21.

(* c/2 |x - a|^2 is of every class with mu <= c <= L. *)
Lemma quadratic {V : space} (c mu L : R) (a : V) : mu <= c -> c <= L ->
  class mu L (fun x => c / 2 * sq (x -v a)) (fun x => c *v (x -v a)).
Proof.
  intros Hm HL.
  split; intros x y; pose proof (sq_pos (y -v x)) as H; revert H; expand; intros; nra.
Qed.

(* DIANA with independent rand-k on R^d. *)
Theorem DIANA_rand_k (n d k : nat) (f : nat -> Rd d -> R) (grad : nat -> Rd d -> Rd d) (xs : Rd d)
    (b mu L gamma alpha : R) (omega := INR d / INR k - 1)
    (C := independent n (fun _ => rand_k d k)) :
  (1 <= n)%nat -> (1 <= k <= d)%nat ->
  (forall i, (i < n)%nat -> class mu L (f i) (grad i)) -> 0 < mu -> mu <= L ->
  (forall x, fmean n f xs <= fmean n f x) ->
  DIANA.conditions mu L omega (omega / INR n) gamma alpha ->
  forall T x0,
  E (rounds (DIANA.step n grad C b gamma alpha) T (DIANA.start x0))
    (DIANA.Psi n grad xs (omega / INR n) gamma alpha) <=
  DIANA.rate mu L gamma alpha ^ T * DIANA.Psi n grad xs (omega / INR n) gamma alpha (DIANA.start x0).
Proof.
  intros Hn Hk Hf Hmu HL Hmin Hc T x0.
  assert (Ho : 0 <= omega) by now apply rand_k_omega.
  eapply (DIANA.T_rounds n f grad xs C b mu L omega (omega / INR n)); auto; try lra.
  - now apply rand_k_messages.
  - apply Rmult_le_pos; [auto|]. left. apply Rinv_0_lt_compat. now apply INR_pos.
Qed.

Theorem LoCoDL_rand_k (n d k : nat) (f : nat -> Rd d -> R) (grad : nat -> Rd d -> Rd d)
    (g : Rd d -> R) (grad_g : Rd d -> Rd d) (xs : Rd d)
    (b mu L gamma chi rho p : R) (coin_p : 0 <= p <= 1) (omega := INR d / INR k - 1)
    (C := independent n (fun _ => rand_k d k)) :
  (1 <= n)%nat -> (1 <= k <= d)%nat ->
  (forall i, (i < n)%nat -> class mu L (f i) (grad i)) -> class mu L g grad_g -> 0 < mu -> mu <= L ->
  (forall x, fmean n f xs + g xs <= fmean n f x + g x) ->
  LoCoDL.conditions L omega (omega / INR n) gamma chi rho p omega ->
  forall T x0,
  E (rounds (LoCoDL.step n grad grad_g C b omega gamma chi rho p coin_p) T (LoCoDL.start x0))
    (LoCoDL.Psi n grad grad_g xs omega gamma chi p) <=
  LoCoDL.rate mu L omega gamma chi p ^ T *
    LoCoDL.Psi n grad grad_g xs omega gamma chi p (LoCoDL.start x0).
Proof.
  intros Hn Hk Hf Hg Hmu HL Hmin Hc T x0.
  assert (Ho : 0 <= omega) by now apply rand_k_omega.
  eapply (LoCoDL.T_rounds n f grad g grad_g xs C b mu L omega omega (omega / INR n)); eauto.
  - now apply rand_k_messages.
  - apply Rmult_le_pos; [auto|]. left. apply Rinv_0_lt_compat. now apply INR_pos.
Qed.

(* The hypotheses can be met: n quadratics with different minima, and the largest steps of the card. *)
Lemma zero_gradient {V : space} mu L (f : V -> R) grad xs : class mu L f grad -> 0 <= mu ->
  (forall z, dot (grad xs) z = 0) -> forall x, f xs <= f x.
Proof.
  intros H Hm Hz x. pose proof (lower _ _ _ _ H xs x) as Hl. rewrite Hz in Hl.
  pose proof (sq_pos (x -v xs)). nra.
Qed.

Theorem DIANA_quadratics (n d k : nat) (a : nat -> Rd d) (x0 : Rd d) (b mu L c : R) (T : nat)
    (omega := INR d / INR k - 1) (C := independent n (fun _ => rand_k d k))
    (gamma := 2 / ((L + mu) * (1 + 6 * (omega / INR n)))) (alpha := 1 / (1 + omega))
    (grad := fun i x => c *v (x -v a i)) :
  (1 <= n)%nat -> (1 <= k <= d)%nat -> 0 < mu -> mu <= c -> c <= L ->
  E (rounds (DIANA.step n grad C b gamma alpha) T (DIANA.start x0))
    (DIANA.Psi n grad (vmean n a) (omega / INR n) gamma alpha) <=
  DIANA.rate mu L gamma alpha ^ T *
    DIANA.Psi n grad (vmean n a) (omega / INR n) gamma alpha (DIANA.start x0).
Proof.
  intros Hn Hk Hmu Hc HL. pose proof (rand_k_omega d k Hk) as Ho. fold omega in Ho.
  pose proof (INR_pos n Hn) as Hn0.
  assert (Hav : 0 <= omega / INR n) by (apply Rmult_le_pos; [auto|left; now apply Rinv_0_lt_compat]).
  pose (f := fun i (x : Rd d) => c / 2 * sq (x -v a i)).
  assert (Hf : forall i, (i < n)%nat -> class mu L (f i) (grad i)) by (intros; now apply quadratic).
  apply (DIANA_rand_k n d k f grad (vmean n a) b mu L gamma alpha); auto; [lra| |].
  - apply (zero_gradient mu L _ _ _ (mean_class n mu L f grad Hn Hf)); [lra|]. intros z.
    unfold gmean. rewrite dot_vmean_l. unfold grad.
    rewrite (sum_ext n _ (fun i => c * (dot (vmean n a) z - dot (a i) z))) by (intros; expand; ring).
    rewrite sum_scal, sum_minus, sum_const, dot_vmean_l. field. lra.
  - repeat split; unfold gamma, alpha; fold omega; try lra; apply Rdiv_lt_0_compat; try lra.
    apply Rmult_lt_0_compat; lra.
Qed.
