(* LoCoDL without g, section 3.1: mu/4 |.|^2 is taken out of every f_i, and is g. *)
From Certibit.methods Require Export LoCoDL.

Definition plain_conditions (mu L omega_C omega_av gamma chi rho p omega : R) : Prop :=
  LoCoDL.conditions (L - mu / 2) omega_C omega_av gamma chi rho p omega.
Definition plain_rate (mu L omega gamma chi p : R) : R :=
  LoCoDL.rate (mu / 2) (L - mu / 2) omega gamma chi p.

Section Ridge.
Context {V : space}.

Definition ridge (c : R) (x : V) : R := c / 2 * sq x.
Definition ridge_grad (c : R) (x : V) : V := c *v x.

Lemma ridge_class c L : c <= L -> class c L (ridge c) (ridge_grad c).
Proof.
  intros HL.
  assert (H : forall x y : V, ridge c x + dot (ridge_grad c x) (y -v x) + c / 2 * sq (y -v x) = ridge c y)
    by (intros; unfold ridge, ridge_grad; expand; field).
  split; intros x y; [right; apply H|]. rewrite <- (H x y). pose proof (sq_pos (y -v x)).
  apply Rplus_le_compat_l, Rmult_le_compat_r; lra.
Qed.

Lemma without_ridge c mu L (f : V -> R) grad : class mu L f grad ->
  class (mu - c) (L - c) (fun x => f x - ridge c x) (fun x => grad x -v ridge_grad c x).
Proof.
  intros [Hl Hu]. split; intros x y.
  - specialize (Hl x y). revert Hl. unfold ridge, ridge_grad. expand. lra.
  - specialize (Hu x y). revert Hu. unfold ridge, ridge_grad. expand. lra.
Qed.

Context (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (xs : V).
Context (C : (nat -> V) -> dist (nat -> V)) (b mu L omega_C omega_av gamma chi rho p omega : R).
Context (coin_p : 0 <= p <= 1).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : forall i, (i < n)%nat -> class mu L (f i) (grad i).
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L.
Hypothesis minimum : forall x, fmean n f xs <= fmean n f x.
Hypothesis compressors : messages n omega_C omega_av C.
Hypothesis omega_C_pos : 0 <= omega_C.
Hypothesis omega_av_pos : 0 <= omega_av.
Hypothesis parameters : plain_conditions mu L omega_C omega_av gamma chi rho p omega.

Definition plain_grad (i : nat) (x : V) : V := grad i x -v ridge_grad (mu / 2) x.
Definition plain_step : state -> dist state :=
  LoCoDL.step n plain_grad (ridge_grad (mu / 2)) C b omega gamma chi rho p coin_p.
Definition plain_Psi : state -> R := LoCoDL.Psi n plain_grad (ridge_grad (mu / 2)) xs omega gamma chi p.

Theorem plain_accuracy T x0 eps : 0 < eps -> 0 < plain_Psi (start x0) ->
  ln (plain_Psi (start x0) / (INR n / gamma * eps)) / (1 - plain_rate mu L omega gamma chi p) <= INR T ->
  E (rounds plain_step T (start x0)) (fun s => sq (y s -v xs)) <= eps /\
  E (rounds plain_step T (start x0)) sent = INR T * (p * b).
Proof.
  apply (LoCoDL.accuracy n (fun i x => f i x - ridge (mu / 2) x) plain_grad (ridge (mu / 2))
    (ridge_grad (mu / 2)) xs C b (mu / 2) (L - mu / 2) omega_C omega omega_av gamma chi rho p coin_p); auto; try lra.
  - intros i Hi. replace (mu / 2) with (mu - mu / 2) at 1 by field. now apply without_ridge, f_class.
  - apply ridge_class. lra.
  - assert (H : forall x, fmean n (fun i x => f i x - ridge (mu / 2) x) x + ridge (mu / 2) x = fmean n f x).
    { intros x. unfold fmean. rewrite sum_minus, sum_const. field. pose proof (INR_pos n n_pos). lra. }
    intros x. now rewrite !H.
Qed.
End Ridge.
