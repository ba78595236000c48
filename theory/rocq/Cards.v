(* Cards and methods, written by `python -m certibit.theory.export.ties`. *)
From Certibit Require Import Functions Compressors Rounds.
From Certibit.methods Require AGD CompressedGD DASHA DIANA DIANANonconvex DIANAVersionA EControl EF EF21 EF21Nonconvex EF21Tight EFBV EFNonconvex GD LSVRG LoCoDL LoCoDLPlain LoCoDLRandK MARINA PAGE SGD Scaffnew VRMARINA.

(* LoCoDL, Theorem 3.1: accuracy of LoCoDL.v *)
Module LoCoDL_Theorem31.
Import Certibit.methods.LoCoDL.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma < 2 / L /\
  0 < p /\
  p <= 1 /\
  0 < chi /\
  chi <= 2 * rho - rho ^ 2 * (1 + omega_av) /\
  omega_C <= omega.
Definition card_rate : R :=
  Rmax (Rmax ((1 - gamma * mu) ^ 2) ((1 - gamma * L) ^ 2)) (1 - p ^ 2 * chi / (1 + 2 * omega)).
Definition card_Psi (s : @state V) : R :=
  1 / gamma * sum n (fun i => sq (x s i -v xs)) + 1 / gamma * INR n * sq (y s -v xs) + gamma * (1 + 2 * omega) / (p ^ 2 * chi) * sum n (fun i => sq (u s i -v grad i xs)) + gamma * (1 + 2 * omega) / (p ^ 2 * chi) * INR n * sq (v s -v (-1) *v (vmean n (fun i => grad i xs))).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State (fun i => x0) x0 (fun i => 0 *v x0) (0 *v x0) (0)).
Definition code_local (s : @state V) : @state V :=
  (State (fun i => x s i -v gamma *v (grad i (x s i) -v u s i)) (y s -v gamma *v (grad_g (y s) -v v s)) (fun i => u s i) (v s) (sent s)).
Definition code_communicate (s : @state V) : dist (@state V) :=
  dmap (fun m => State (fun i => (1 - rho) *v (x s i) +v rho *v (y s +v / 2 *v (vmean n (fun i => m i)))) (y s +v rho *v (/ 2 *v (vmean n (fun i => m i)))) (fun i => u s i +v (p * chi / (gamma * (1 + 2 * omega))) *v (/ 2 *v (vmean n (fun i => m i)) -v m i)) (v s +v (p * chi / (gamma * (1 + 2 * omega))) *v (/ 2 *v (vmean n (fun i => m i)))) (sent s + b)) (C (fun i => x s i -v y s)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind (coin p coin_p) (fun c : bool => if c then code_communicate (code_local s) else ret (code_local s)).
End Card.
End LoCoDL_Theorem31.

(* LoCoDL, section 3.1 (g = 0): plain_accuracy of LoCoDLPlain.v *)
Module LoCoDL_Section31.
Import Certibit.methods.LoCoDLPlain.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma < 2 / (L + ridge - (mu + ridge) / 2) /\
  0 < p /\
  p <= 1 /\
  0 < chi /\
  chi <= 2 * rho - rho ^ 2 * (1 + omega_av) /\
  omega_C <= omega /\
  ridge <= mu /\
  mu <= ridge.
Definition card_rate : R :=
  Rmax (Rmax ((1 - gamma * ((mu + ridge) / 2)) ^ 2) ((1 - gamma * (L + ridge - (mu + ridge) / 2)) ^ 2)) (1 - p ^ 2 * chi / (1 + 2 * omega)).
Definition card_Psi (s : @state V) : R :=
  1 / gamma * sum n (fun i => sq (x s i -v xs)) + 1 / gamma * INR n * sq (y s -v xs) + gamma * (1 + 2 * omega) / (p ^ 2 * chi) * sum n (fun i => sq (u s i -v grad i xs)) + gamma * (1 + 2 * omega) / (p ^ 2 * chi) * INR n * sq (v s -v (-1) *v (vmean n (fun i => grad i xs))).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State (fun i => x0) x0 (fun i => 0 *v x0) (0 *v x0) (0)).
Definition code_local (s : @state V) : @state V :=
  (State (fun i => x s i -v gamma *v (grad i (x s i) -v u s i)) (y s -v gamma *v (grad_g (y s) -v v s)) (fun i => u s i) (v s) (sent s)).
Definition code_communicate (s : @state V) : dist (@state V) :=
  dmap (fun m => State (fun i => (1 - rho) *v (x s i) +v rho *v (y s +v / 2 *v (vmean n (fun i => m i)))) (y s +v rho *v (/ 2 *v (vmean n (fun i => m i)))) (fun i => u s i +v (p * chi / (gamma * (1 + 2 * omega))) *v (/ 2 *v (vmean n (fun i => m i)) -v m i)) (v s +v (p * chi / (gamma * (1 + 2 * omega))) *v (/ 2 *v (vmean n (fun i => m i)))) (sent s + b)) (C (fun i => x s i -v y s)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind (coin p coin_p) (fun c : bool => if c then code_communicate (code_local s) else ret (code_local s)).
End Card.
End LoCoDL_Section31.

(* LoCoDL, Corollary 3.2: corollary_accuracy of LoCoDLRandK.v *)
Module LoCoDL_Corollary32.
Import Certibit.methods.LoCoDLRandK.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma < 2 / L /\
  0 < p /\
  p <= 1 /\
  0 < chi /\
  chi <= 2 * rho - rho ^ 2 * (1 + omega_av) /\
  omega_C <= omega /\
  1 / (2 * L) <= gamma /\
  1 <= 1 /\
  0 <= 0 /\
  omega_C <= INR d / INR (ceiling d n) - 1 /\
  INR d / INR (ceiling d n) - 1 <= omega_C /\
  chi <= INR n / (INR n - 1 + INR d / INR (ceiling d n)) /\
  INR n / (INR n - 1 + INR d / INR (ceiling d n)) <= chi /\
  rho <= INR n / (INR n - 1 + INR d / INR (ceiling d n)) /\
  INR n / (INR n - 1 + INR d / INR (ceiling d n)) <= rho /\
  p <= Rmin (sqrt ((INR d * INR (ceiling d n) * (INR n - 1) + (INR d) ^ 2) / (INR n * (INR (ceiling d n)) ^ 2 * (L / mu)))) 1 /\
  Rmin (sqrt ((INR d * INR (ceiling d n) * (INR n - 1) + (INR d) ^ 2) / (INR n * (INR (ceiling d n)) ^ 2 * (L / mu)))) 1 <= p.
Definition card_rate : R :=
  Rmax (Rmax ((1 - gamma * mu) ^ 2) ((1 - gamma * L) ^ 2)) (1 - p ^ 2 * chi / (1 + 2 * omega)).
Definition card_Psi (s : @state V) : R :=
  1 / gamma * sum n (fun i => sq (x s i -v xs)) + 1 / gamma * INR n * sq (y s -v xs) + gamma * (1 + 2 * omega) / (p ^ 2 * chi) * sum n (fun i => sq (u s i -v grad i xs)) + gamma * (1 + 2 * omega) / (p ^ 2 * chi) * INR n * sq (v s -v (-1) *v (vmean n (fun i => grad i xs))).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State (fun i => x0) x0 (fun i => 0 *v x0) (0 *v x0) (0)).
Definition code_local (s : @state V) : @state V :=
  (State (fun i => x s i -v gamma *v (grad i (x s i) -v u s i)) (y s -v gamma *v (grad_g (y s) -v v s)) (fun i => u s i) (v s) (sent s)).
Definition code_communicate (s : @state V) : dist (@state V) :=
  dmap (fun m => State (fun i => (1 - rho) *v (x s i) +v rho *v (y s +v / 2 *v (vmean n (fun i => m i)))) (y s +v rho *v (/ 2 *v (vmean n (fun i => m i)))) (fun i => u s i +v (p * chi / (gamma * (1 + 2 * omega))) *v (/ 2 *v (vmean n (fun i => m i)) -v m i)) (v s +v (p * chi / (gamma * (1 + 2 * omega))) *v (/ 2 *v (vmean n (fun i => m i)))) (sent s + b)) (C (fun i => x s i -v y s)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind (coin p coin_p) (fun c : bool => if c then code_communicate (code_local s) else ret (code_local s)).
End Card.
End LoCoDL_Corollary32.

(* DIANA, f strongly convex: a_accuracy of DIANAVersionA.v *)
Module DIANA_VersionA.
Import Certibit.methods.DIANAVersionA.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma <= 1 / (L_f + 6 * omega_av * L) /\
  0 < alpha /\
  alpha <= 1 / (1 + omega).
Definition card_rate : R :=
  Rmax (1 - gamma * mu) (1 - alpha / 2).
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs) + 4 * omega_av / alpha * gamma ^ 2 / INR n * sum n (fun i => sq (h s i -v grad i xs)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (fun i => 0 *v x0) (0 *v x0) (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (h_mean s +v vmean n (fun i => m i))) (fun i => h s i +v alpha *v (m i)) (h_mean s +v alpha *v (vmean n (fun i => m i))) (sent s + b)) (C (fun i => grad i (x s) -v h s i)).
End Card.
End DIANA_VersionA.

(* DIANA, every f_i strongly convex: accuracy of DIANA.v *)
Module DIANA_VersionB.
Import Certibit.methods.DIANA.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma <= 2 / ((L + mu) * (1 + 6 * omega_av)) /\
  0 < alpha /\
  alpha <= 1 / (1 + omega).
Definition card_rate : R :=
  Rmax (1 - 2 * gamma * mu * L / (mu + L)) (1 - alpha / 2).
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs) + 4 * omega_av / alpha * gamma ^ 2 / INR n * sum n (fun i => sq (h s i -v grad i xs)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (fun i => 0 *v x0) (0 *v x0) (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (h_mean s +v vmean n (fun i => m i))) (fun i => h s i +v alpha *v (m i)) (h_mean s +v alpha *v (vmean n (fun i => m i))) (sent s + b)) (C (fun i => grad i (x s) -v h s i)).
End Card.
End DIANA_VersionB.

(* DIANA, every f_i strongly convex, coupled weights: coupled_T_rounds of DIANA.v *)
Module DIANA_CoupledShifts.
Import Certibit.methods.DIANA.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  2 * gamma * mu * L / (mu + L) < alpha /\
  0 < gamma /\
  gamma <= 2 / ((L + mu) * (1 + (1 + 1 / sqrt (1 - 2 * gamma * mu * L / (mu + L) / alpha)) ^ 2 * omega_av)) /\
  0 < alpha /\
  alpha <= 1 / (1 + omega).
Definition card_rate : R :=
  1 - 2 * gamma * mu * L / (mu + L).
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs) + omega_av * gamma ^ 2 * ((1 + sqrt (1 - 2 * gamma * mu * L / (mu + L) / alpha)) / ((1 - 2 * gamma * mu * L / (mu + L) / alpha) * alpha)) / INR n * sum n (fun i => sq (h s i -v grad i xs)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (fun i => 0 *v x0) (0 *v x0) (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (h_mean s +v vmean n (fun i => m i))) (fun i => h s i +v alpha *v (m i)) (h_mean s +v alpha *v (vmean n (fun i => m i))) (sent s + b)) (C (fun i => grad i (x s) -v h s i)).
End Card.
End DIANA_CoupledShifts.

(* DIANA, nonconvex: nonconvex_accuracy of DIANANonconvex.v *)
Module DIANA_SmoothShifts.
Import Certibit.methods.DIANANonconvex.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma <= 1 / (2 * L) /\
  0 < alpha /\
  alpha <= 1 / (1 + omega) /\
  gamma * L * sqrt (omega_av * (2 + alpha)) <= alpha / 2.
Definition card_descent : R :=
  gamma - (L / 2 + 2 * L * gamma ^ 2 * omega_av / alpha * (1 + 2 / alpha) * L ^ 2) * gamma ^ 2.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + 2 * L * gamma ^ 2 * omega_av / alpha / INR n * sum n (fun i => sq (h s i -v grad i (x s))).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (fun i => 0 *v x0) (0 *v x0) (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (h_mean s +v vmean n (fun i => m i))) (fun i => h s i +v alpha *v (m i)) (h_mean s +v alpha *v (vmean n (fun i => m i))) (sent s + b)) (C (fun i => grad i (x s) -v h s i)).
End Card.
End DIANA_SmoothShifts.

(* DIANA, convex: convex_T_rounds of DIANA.v *)
Module DIANA_ConvexShifts.
Import Certibit.methods.DIANA.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma <= 1 / (L * (1 + 4 * omega_av)) /\
  0 < alpha /\
  alpha <= 1 / (1 + omega).
Definition card_descent : R :=
  2 * gamma.
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs) + 2 * omega_av / alpha * gamma ^ 2 / INR n * sum n (fun i => sq (h s i -v grad i xs)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (fun i => 0 *v x0) (0 *v x0) (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (h_mean s +v vmean n (fun i => m i))) (fun i => h s i +v alpha *v (m i)) (h_mean s +v alpha *v (vmean n (fun i => m i))) (sent s + b)) (C (fun i => grad i (x s) -v h s i)).
End Card.
End DIANA_ConvexShifts.

(* Scaffnew, original: original_T_rounds of Scaffnew.v *)
Module Scaffnew_Original.
Import Certibit.methods.Scaffnew.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma <= 1 / L /\
  0 < p /\
  p <= 1.
Definition card_rate : R :=
  1 - Rmin (gamma * mu) (p ^ 2).
Definition card_Psi (s : @state V) : R :=
  1 * sum n (fun i => sq (x s i -v xs)) + (gamma / p) ^ 2 * sum n (fun i => sq (h s i -v grad i xs)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State (fun i => x0) (fun i => 0 *v x0) (0)).
Definition code_local (s : @state V) : @state V :=
  (State (fun i => x s i -v gamma *v (grad i (x s i) -v h s i)) (fun i => h s i) (sent s)).
Definition code_communicate (s : @state V) : dist (@state V) :=
  ret (State (fun i => vmean n (fun i => x s i)) (fun i => h s i +v (p / gamma) *v (vmean n (fun i => x s i) -v x s i)) (sent s + b_full)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind (coin p coin_p) (fun c : bool => if c then code_communicate (code_local s) else ret (code_local s)).
End Card.
End Scaffnew_Original.

(* Scaffnew, sharper: T_rounds of Scaffnew.v *)
Module Scaffnew_Sharper.
Import Certibit.methods.Scaffnew.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma < 2 / L /\
  0 < p /\
  p <= 1.
Definition card_rate : R :=
  Rmax (Rmax ((1 - gamma * mu) ^ 2) ((1 - gamma * L) ^ 2)) (1 - p ^ 2).
Definition card_Psi (s : @state V) : R :=
  1 * sum n (fun i => sq (x s i -v xs)) + (gamma / p) ^ 2 * sum n (fun i => sq (h s i -v grad i xs)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State (fun i => x0) (fun i => 0 *v x0) (0)).
Definition code_local (s : @state V) : @state V :=
  (State (fun i => x s i -v gamma *v (grad i (x s i) -v h s i)) (fun i => h s i) (sent s)).
Definition code_communicate (s : @state V) : dist (@state V) :=
  ret (State (fun i => vmean n (fun i => x s i)) (fun i => h s i +v (p / gamma) *v (vmean n (fun i => x s i) -v x s i)) (sent s + b_full)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind (coin p coin_p) (fun c : bool => if c then code_communicate (code_local s) else ret (code_local s)).
End Card.
End Scaffnew_Sharper.

(* EF21, Polyak-Lojasiewicz: accuracy of EF21.v *)
Module EF21_ErrorFeedback.
Import Certibit.methods.EF21.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < alpha /\
  0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (2 * (1 - alpha)) / (1 - sqrt (1 - alpha))) /\
  gamma <= (1 - sqrt (1 - alpha)) / (2 * mu).
Definition card_rate : R :=
  1 - gamma * mu.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + gamma / (1 - sqrt (1 - alpha)) / INR n * sum n (fun i => sq (g s i -v grad i (x s))).
Definition code_start (x0 : V) : dist (@state V) :=
  dmap (fun m => State x0 (fun i => m i) (vmean n (fun i => m i)) (0 + b)) (C (fun i => grad i x0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (g_mean s)) (fun i => g s i +v m i) (g_mean s +v vmean n (fun i => m i)) (sent s + b)) (C (fun i => grad i (x s -v gamma *v (g_mean s)) -v g s i)).
End Card.
End EF21_ErrorFeedback.

(* EF21, every f_i strongly convex: tight_T_rounds of EF21Tight.v *)
Module EF21_TightErrorFeedback.
Import Certibit.methods.EF21Tight.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < alpha /\
  alpha < 1 /\
  0 < gamma /\
  gamma <= 2 / (L + mu) * (1 - sqrt (1 - alpha)) / (1 + sqrt (1 - alpha)).
Definition card_rate : R :=
  1 - gamma / (2 / (L + mu) * (1 - sqrt (1 - alpha)) / (1 + sqrt (1 - alpha))) * (1 - (sqrt (1 - alpha) + (1 + sqrt (1 - alpha)) * (L - mu) * (2 / (L + mu) * (1 - sqrt (1 - alpha)) / (1 + sqrt (1 - alpha)) / (L + mu) * ((1 - sqrt (1 - alpha)) * (L - mu) + (1 + sqrt (1 - alpha)) * sqrt ((L - mu) ^ 2 + 16 * L * mu * sqrt (1 - alpha) / (1 + sqrt (1 - alpha)) ^ 2))) / 4)).
Definition card_Psi (s : @state V) : R :=
  sqrt (1 - alpha) * sq (vmean n (fun i => grad i (x s)) -v vmean n (fun i => grad i xs)) + 1 / INR n * sum n (fun i => sq (g s i -v grad i (x s))).
Definition code_start (x0 : V) : dist (@state V) :=
  dmap (fun m => State x0 (fun i => m i) (vmean n (fun i => m i)) (0 + b)) (C (fun i => grad i x0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (g_mean s)) (fun i => g s i +v m i) (g_mean s +v vmean n (fun i => m i)) (sent s + b)) (C (fun i => grad i (x s -v gamma *v (g_mean s)) -v g s i)).
End Card.
End EF21_TightErrorFeedback.

(* EF21, nonconvex: nonconvex_accuracy of EF21Nonconvex.v *)
Module EF21_ErrorFeedbackNonconvex.
Import Certibit.methods.EF21Nonconvex.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < alpha /\
  0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (1 * (1 - alpha)) / (1 - sqrt (1 - alpha))).
Definition card_descent : R :=
  gamma / 2.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + gamma / (2 * (1 - sqrt (1 - alpha))) / INR n * sum n (fun i => sq (g s i -v grad i (x s))).
Definition code_start (x0 : V) : dist (@state V) :=
  dmap (fun m => State x0 (fun i => m i) (vmean n (fun i => m i)) (0 + b)) (C (fun i => grad i x0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (g_mean s)) (fun i => g s i +v m i) (g_mean s +v vmean n (fun i => m i)) (sent s + b)) (C (fun i => grad i (x s -v gamma *v (g_mean s)) -v g s i)).
End Card.
End EF21_ErrorFeedbackNonconvex.

(* EF-BV, Polyak-Lojasiewicz: accuracy of EFBV.v *)
Module EFBV_BiasAndVariance.
Import Certibit.methods.EFBV.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < lambda_ /\
  lambda_ <= 1 /\
  0 < nu /\
  nu <= 1 /\
  (1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega < 1 /\
  (if Req_EM_T ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega) 0 then (1 - nu + nu * eta) ^ 2 + nu ^ 2 * omega_av else 0) <= 0 /\
  0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * (sqrt ((1 - nu + nu * eta) ^ 2 + nu ^ 2 * omega_av) / (sqrt ((1 + ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)) / 2) - sqrt ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)))).
Definition card_rate : R :=
  Rmax (1 - gamma * mu) ((1 + ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)) / 2).
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + gamma / (1 + ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)) * sq (g s -v vmean n (fun i => grad i (x s))) + gamma / (1 + ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)) * ((1 - nu + nu * eta) ^ 2 + nu ^ 2 * omega_av) / (sqrt ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega) * (sqrt ((1 + ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)) / 2) - sqrt ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega))) / INR n * sum n (fun i => sq (h s i -v grad i (x s))).
Definition code_start (x0 : V) : dist (@state V) :=
  dmap (fun m => State x0 (fun i => lambda_ *v (m i)) (lambda_ *v (vmean n (fun i => m i))) (nu *v (vmean n (fun i => m i))) (0 + b)) (C (fun i => grad i x0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (g s)) (fun i => h s i +v lambda_ *v (m i)) (h_mean s +v lambda_ *v (vmean n (fun i => m i))) (h_mean s +v nu *v (vmean n (fun i => m i))) (sent s + b)) (C (fun i => grad i (x s -v gamma *v (g s)) -v h s i)).
End Card.
End EFBV_BiasAndVariance.

(* EF-BV, nonconvex: nonconvex_accuracy of EFBV.v *)
Module EFBV_BiasAndVarianceNonconvex.
Import Certibit.methods.EFBV.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < lambda_ /\
  lambda_ <= 1 /\
  0 < nu /\
  nu <= 1 /\
  (1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega < 1 /\
  (if Req_EM_T ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega) 0 then (1 - nu + nu * eta) ^ 2 + nu ^ 2 * omega_av else 0) <= 0 /\
  0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * (sqrt ((1 - nu + nu * eta) ^ 2 + nu ^ 2 * omega_av) / (sqrt ((1 + ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)) / 2) - sqrt ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)))).
Definition card_descent : R :=
  gamma / 2.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + gamma / (1 + ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)) * sq (g s -v vmean n (fun i => grad i (x s))) + gamma / (1 + ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)) * ((1 - nu + nu * eta) ^ 2 + nu ^ 2 * omega_av) / (sqrt ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega) * (sqrt ((1 + ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega)) / 2) - sqrt ((1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega))) / INR n * sum n (fun i => sq (h s i -v grad i (x s))).
Definition code_start (x0 : V) : dist (@state V) :=
  dmap (fun m => State x0 (fun i => lambda_ *v (m i)) (lambda_ *v (vmean n (fun i => m i))) (nu *v (vmean n (fun i => m i))) (0 + b)) (C (fun i => grad i x0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (g s)) (fun i => h s i +v lambda_ *v (m i)) (h_mean s +v lambda_ *v (vmean n (fun i => m i))) (h_mean s +v nu *v (vmean n (fun i => m i))) (sent s + b)) (C (fun i => grad i (x s -v gamma *v (g s)) -v h s i)).
End Card.
End EFBV_BiasAndVarianceNonconvex.

(* EControl, Polyak-Lojasiewicz: accuracy of EControl.v *)
Module EControl_ErrorControl.
Import Certibit.methods.EControl.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < alpha /\
  0 <= share /\
  sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0)) < 1 /\
  (if Rlt_dec 0 share then 1 - share + (1 + share) * share ^ 2 / (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) else 0) < 1 /\
  0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (2 * ((1 + share) * Rmax (1 / (1 - sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0)))) (if Rlt_dec 0 share then 1 / ((if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) * (1 - (if Rlt_dec 0 share then 1 - share + (1 + share) * share ^ 2 / (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) else 0))) else 0)) * sqrt (1 - alpha) * (sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0))) / (1 - sqrt (1 - alpha)))) /\
  gamma <= (1 - Rmax (sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0))) (if Rlt_dec 0 share then 1 - share + (1 + share) * share ^ 2 / (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) else 0)) / (2 * mu).
Definition card_rate : R :=
  1 - gamma * mu.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + (1 + share) * Rmax (1 / (1 - sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0)))) (if Rlt_dec 0 share then 1 / ((if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) * (1 - (if Rlt_dec 0 share then 1 - share + (1 + share) * share ^ 2 / (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) else 0))) else 0) * gamma / INR n * sum n (fun i => sq (share *v (e s i) -v (h s i -v grad i (x s)))) + (1 + share) * Rmax (1 / (1 - sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0)))) (if Rlt_dec 0 share then 1 / ((if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) * (1 - (if Rlt_dec 0 share then 1 - share + (1 + share) * share ^ 2 / (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) else 0))) else 0) * gamma / INR n * (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) * share * sum n (fun i => sq (e s i)).
Definition code_start (x0 : V) : dist (@state V) :=
  dmap (fun m => State x0 (fun i => m i) (vmean n (fun i => m i)) (fun i => grad i x0 -v m i) (0 + b)) (C (fun i => grad i x0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (h_mean s)) (fun i => h s i +v m i) (h_mean s +v vmean n (fun i => m i)) (fun i => e s i +v (grad i (x s -v gamma *v (h_mean s)) -v h s i) -v m i) (sent s + b)) (C (fun i => share *v (e s i) +v (grad i (x s -v gamma *v (h_mean s)) -v h s i))).
End Card.
End EControl_ErrorControl.

(* EControl, nonconvex: nonconvex_accuracy of EControl.v *)
Module EControl_ErrorControlNonconvex.
Import Certibit.methods.EControl.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < alpha /\
  0 <= share /\
  sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0)) < 1 /\
  (if Rlt_dec 0 share then 1 - share + (1 + share) * share ^ 2 / (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) else 0) < 1 /\
  0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (2 * ((1 + share) * Rmax (1 / (1 - sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0)))) (if Rlt_dec 0 share then 1 / ((if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) * (1 - (if Rlt_dec 0 share then 1 - share + (1 + share) * share ^ 2 / (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) else 0))) else 0)) * sqrt (1 - alpha) * (sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0))) / (1 - sqrt (1 - alpha))) / sqrt 2).
Definition card_descent : R :=
  gamma / 2.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + (1 + share) * Rmax (1 / (1 - sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0)))) (if Rlt_dec 0 share then 1 / ((if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) * (1 - (if Rlt_dec 0 share then 1 - share + (1 + share) * share ^ 2 / (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) else 0))) else 0) * (gamma / 2) / INR n * sum n (fun i => sq (share *v (e s i) -v (h s i -v grad i (x s)))) + (1 + share) * Rmax (1 / (1 - sqrt (1 - alpha) * ((1 + share) ^ 3 + (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0)))) (if Rlt_dec 0 share then 1 / ((if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) * (1 - (if Rlt_dec 0 share then 1 - share + (1 + share) * share ^ 2 / (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) else 0))) else 0) * (gamma / 2) / INR n * (if Rlt_dec 0 share then (1 - sqrt (1 - alpha)) / 2 else 0) * share * sum n (fun i => sq (e s i)).
Definition code_start (x0 : V) : dist (@state V) :=
  dmap (fun m => State x0 (fun i => m i) (vmean n (fun i => m i)) (fun i => grad i x0 -v m i) (0 + b)) (C (fun i => grad i x0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (h_mean s)) (fun i => h s i +v m i) (h_mean s +v vmean n (fun i => m i)) (fun i => e s i +v (grad i (x s -v gamma *v (h_mean s)) -v h s i) -v m i) (sent s + b)) (C (fun i => share *v (e s i) +v (grad i (x s -v gamma *v (h_mean s)) -v h s i))).
End Card.
End EControl_ErrorControlNonconvex.

(* MARINA, Polyak-Lojasiewicz: PL_accuracy of MARINA.v *)
Module MARINA_GradientDifferences.
Import Certibit.methods.MARINA.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < p /\
  p <= 1 /\
  0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (Rmax 0 (2 * (1 - p) * omega_av / p))) /\
  gamma <= p / (2 * mu).
Definition card_rate : R :=
  1 - gamma * mu.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + gamma / p * sq (g s -v vmean n (fun i => gradient s i)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (vmean n (fun i => grad i x0)) (fun i => grad i x0) (0 + b_full)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind (coin p coin_p) (fun c : bool => if c then ret (State (x s -v gamma *v (g s)) (vmean n (fun i => grad i (x s -v gamma *v (g s)))) (fun i => grad i (x s -v gamma *v (g s))) (sent s + b_full)) else dmap (fun m => State (x s -v gamma *v (g s)) (g s +v vmean n (fun i => m i)) (fun i => grad i (x s -v gamma *v (g s))) (sent s + b)) (C (fun i => grad i (x s -v gamma *v (g s)) -v gradient s i))).
End Card.
End MARINA_GradientDifferences.

(* MARINA, nonconvex: accuracy of MARINA.v *)
Module MARINA_GradientDifferencesNonconvex.
Import Certibit.methods.MARINA.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < p /\
  p <= 1 /\
  0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (Rmax 0 (1 * (1 - p) * omega_av / p))).
Definition card_descent : R :=
  gamma / 2.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + gamma / (2 * p) * sq (g s -v vmean n (fun i => gradient s i)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (vmean n (fun i => grad i x0)) (fun i => grad i x0) (0 + b_full)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind (coin p coin_p) (fun c : bool => if c then ret (State (x s -v gamma *v (g s)) (vmean n (fun i => grad i (x s -v gamma *v (g s)))) (fun i => grad i (x s -v gamma *v (g s))) (sent s + b_full)) else dmap (fun m => State (x s -v gamma *v (g s)) (g s +v vmean n (fun i => m i)) (fun i => grad i (x s -v gamma *v (g s))) (sent s + b)) (C (fun i => grad i (x s -v gamma *v (g s)) -v gradient s i))).
End Card.
End MARINA_GradientDifferencesNonconvex.

(* DASHA, Polyak-Lojasiewicz: PL_accuracy of DASHA.v *)
Module DASHA_CorrectedDifferences.
Import Certibit.methods.DASHA.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < a /\
  a <= 1 / (1 + 2 * omega) /\
  0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (4 * omega_av * (1 / a + 4 * omega))) /\
  gamma <= a / (2 * mu).
Definition card_rate : R :=
  1 - gamma * mu.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + gamma / a * sq (g_mean s -v vmean n (fun i => gradient s i)) + 4 * gamma * omega_av / INR n * sum n (fun i => sq (g s i -v gradient s i)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (fun i => grad i x0) (vmean n (fun i => grad i x0)) (fun i => grad i x0) (0 + b_full)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (g_mean s)) (fun i => g s i +v m i) (g_mean s +v vmean n (fun i => m i)) (fun i => grad i (x s -v gamma *v (g_mean s))) (sent s + b)) (C (fun i => grad i (x s -v gamma *v (g_mean s)) -v gradient s i -v a *v (g s i -v gradient s i))).
End Card.
End DASHA_CorrectedDifferences.

(* DASHA, nonconvex: accuracy of DASHA.v *)
Module DASHA_CorrectedDifferencesNonconvex.
Import Certibit.methods.DASHA.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < a /\
  a * (1 + 2 * omega) <= 1 /\
  1 <= a * (1 + 2 * omega) /\
  0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (16 * omega_av * (1 + 2 * omega))).
Definition card_descent : R :=
  gamma / 2.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + gamma * (1 + 2 * omega) * sq (g_mean s -v vmean n (fun i => gradient s i)) + 2 * gamma * omega_av / INR n * sum n (fun i => sq (g s i -v gradient s i)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (fun i => grad i x0) (vmean n (fun i => grad i x0)) (fun i => grad i x0) (0 + b_full)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (g_mean s)) (fun i => g s i +v m i) (g_mean s +v vmean n (fun i => m i)) (fun i => grad i (x s -v gamma *v (g_mean s))) (sent s + b)) (C (fun i => grad i (x s -v gamma *v (g_mean s)) -v gradient s i -v a *v (g s i -v gradient s i))).
End Card.
End DASHA_CorrectedDifferencesNonconvex.

(* accelerated gradient descent, classical: accuracy of AGD.v *)
Module AGD_Accelerated.
Import Certibit.methods.AGD.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma <= 1 / L_f /\
  0 < q /\
  q <= sqrt (gamma * mu).
Definition card_rate : R :=
  1 - q.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + q ^ 2 / (2 * gamma) * sq (y s +v / q *v (y s -v x s) -v xs).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 x0 (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  ret (State (y s -v gamma *v (vmean n (fun i => grad i (y s)))) (y s -v gamma *v (vmean n (fun i => grad i (y s))) +v ((1 - q) / (1 + q)) *v (y s -v gamma *v (vmean n (fun i => grad i (y s))) -v x s)) (sent s + b_full)).
End Card.
End AGD_Accelerated.

(* gradient descent, classical: accuracy of GD.v *)
Module GD_GradientDescent.
Import Certibit.methods.GD.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma < 2 / L_f.
Definition card_rate : R :=
  Rmax ((1 - gamma * mu) ^ 2) ((1 - gamma * L_f) ^ 2).
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  ret (State (x s -v gamma *v (vmean n (fun i => grad i (x s)))) (sent s + b_full)).
End Card.
End GD_GradientDescent.

(* gradient descent, nonconvex: nonconvex_accuracy of GD.v *)
Module GD_GradientDescentNonconvex.
Import Certibit.methods.GD.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma * L_f < 2.
Definition card_descent : R :=
  gamma * (1 - gamma * L_f / 2).
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  ret (State (x s -v gamma *v (vmean n (fun i => grad i (x s)))) (sent s + b_full)).
End Card.
End GD_GradientDescentNonconvex.

(* gradient descent, convex: convex_T_rounds of GD.v *)
Module GD_ApproachConvex.
Import Certibit.methods.GD.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma <= 1 / L_f.
Definition card_descent : R :=
  2 * gamma.
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  ret (State (x s -v gamma *v (vmean n (fun i => grad i (x s)))) (sent s + b_full)).
End Card.
End GD_ApproachConvex.

(* SGD, strongly convex, bounded variance: T_rounds of SGD.v *)
Module SGD_BoundedVariance.
Import Certibit.methods.SGD.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  (L_f + mu) * gamma <= 2.
Definition card_rate : R :=
  (1 - gamma * mu) ^ 2.
Definition card_noise : R :=
  gamma ^ 2 / INR n.
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind G (fun xi => ret (State (x s -v gamma *v (vmean n (fun i => xi i (x s)))) (sent s + b_full))).
End Card.
End SGD_BoundedVariance.

(* SGD, expected smoothness: expected_T_rounds of SGD.v *)
Module SGD_ExpectedSmoothness.
Import Certibit.methods.SGD.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  2 * (L_f + A / INR n) * gamma <= 1.
Definition card_rate : R :=
  1 - gamma * mu.
Definition card_noise : R :=
  2 * gamma ^ 2 / INR n.
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind G (fun xi => ret (State (x s -v gamma *v (vmean n (fun i => xi i (x s)))) (sent s + b_full))).
End Card.
End SGD_ExpectedSmoothness.

(* SGD, nonconvex: nonconvex_mean of SGD.v *)
Module SGD_StochasticGradientDescent.
Import Certibit.methods.SGD.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  L_f * gamma < 2.
Definition card_descent : R :=
  gamma * (1 - gamma * L_f / 2).
Definition card_noise : R :=
  gamma ^ 2 * L_f / (2 * INR n).
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind G (fun xi => ret (State (x s -v gamma *v (vmean n (fun i => xi i (x s)))) (sent s + b_full))).
End Card.
End SGD_StochasticGradientDescent.

(* SGD, convex: convex_T_rounds of SGD.v *)
Module SGD_StochasticApproachConvex.
Import Certibit.methods.SGD.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < gamma /\
  gamma <= 1 / L_f.
Definition card_descent : R :=
  2 * gamma.
Definition card_noise : R :=
  gamma ^ 2 / INR n.
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind G (fun xi => ret (State (x s -v gamma *v (vmean n (fun i => xi i (x s)))) (sent s + b_full))).
End Card.
End SGD_StochasticApproachConvex.

(* PAGE, nonconvex: accuracy of PAGE.v *)
Module PAGE_SampledDifferences.
Import Certibit.methods.PAGE.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < p /\
  p <= 1 /\
  0 < gamma /\
  gamma <= 1 / (L_f + difference * sqrt (Rmax 0 ((1 - p) / (p * INR n)))).
Definition card_descent : R :=
  gamma / 2.
Definition card_noise : R :=
  0.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + gamma / (2 * p) * sq (g s -v vmean n (fun i => grad i (x s))).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (vmean n (fun i => grad i x0)) (0 + b_full)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind (coin p coin_p) (fun c : bool => if c then ret (State (x s -v gamma *v (g s)) (vmean n (fun i => grad i (x s -v gamma *v (g s)))) (sent s + b_full)) else bind G (fun xi => ret (State (x s -v gamma *v (g s)) (g s +v vmean n (fun i => xi i (x s -v gamma *v (g s)) -v xi i (x s))) (sent s + b_full)))).
End Card.
End PAGE_SampledDifferences.

(* VR-MARINA, nonconvex: accuracy of VRMARINA.v *)
Module VRMARINA_CompressedSampledDifferences.
Import Certibit.methods.VRMARINA.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < p /\
  p <= 1 /\
  0 < gamma /\
  gamma <= 1 / (L_f + sqrt (Rmax 0 ((omega_av * L_tilde ^ 2 + (omega_av + 1 / INR n) * difference ^ 2) * (1 - p) / p))).
Definition card_descent : R :=
  gamma / 2.
Definition card_noise : R :=
  0.
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs) + gamma / (2 * p) * sq (g s -v vmean n (fun i => grad i (x s))).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (vmean n (fun i => grad i x0)) (0 + b_full)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind (coin p coin_p) (fun c : bool => if c then ret (State (x s -v gamma *v (g s)) (vmean n (fun i => grad i (x s -v gamma *v (g s)))) (sent s + b_full)) else bind G (fun xi => dmap (fun m => State (x s -v gamma *v (g s)) (g s +v vmean n (fun i => m i)) (sent s + b)) (C (fun i => xi i (x s -v gamma *v (g s)) -v xi i (x s))))).
End Card.
End VRMARINA_CompressedSampledDifferences.

(* L-SVRG: accuracy of LSVRG.v *)
Module LSVRG_ReferencePoint.
Import Certibit.methods.LSVRG.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < p /\
  p <= 1 /\
  0 < gamma /\
  gamma <= 1 / (L_f + 6 * A / INR n).
Definition card_rate : R :=
  Rmax (1 - gamma * mu) (1 - p / 2).
Definition card_noise : R :=
  0.
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs) + Rmax (8 * (A / INR n) * gamma ^ 2) (2 * gamma * (1 - gamma * (L + 2 * (A / INR n)))) / p * (fmean n f (w s) - fs).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 x0 (vmean n (fun i => grad i x0)) (0 + b_full)).
Definition code_step (s : @state V) : dist (@state V) :=
  bind (coin p coin_p) (fun c : bool => if c then bind G (fun xi => ret (State (x s -v gamma *v (vmean n (fun i => xi i (x s) -v xi i (w s)) +v gradient s)) (x s) (vmean n (fun i => grad i (x s))) (sent s + b_full + b_full))) else bind G (fun xi => ret (State (x s -v gamma *v (vmean n (fun i => xi i (x s) -v xi i (w s)) +v gradient s)) (w s) (gradient s) (sent s + b_full)))).
End Card.
End LSVRG_ReferencePoint.

(* EF, every f_i strongly convex, one minimiser: accuracy of EF.v *)
Module EF_Feedback.
Import Certibit.methods.EF.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 <= 0 /\
  0 < alpha /\
  alpha < 1 /\
  0 < gamma /\
  gamma <= 2 / (L + mu) * (1 - sqrt (1 - alpha)) / (1 + sqrt (1 - alpha)).
Definition card_rate : R :=
  1 - gamma / (2 / (L + mu) * (1 - sqrt (1 - alpha)) / (1 + sqrt (1 - alpha))) * (1 - (sqrt (1 - alpha) + (1 + sqrt (1 - alpha)) * (L - mu) * (2 / (L + mu) * (1 - sqrt (1 - alpha)) / (1 + sqrt (1 - alpha)) / (L + mu) * ((1 - sqrt (1 - alpha)) * (L - mu) + (1 + sqrt (1 - alpha)) * sqrt ((L - mu) ^ 2 + 16 * L * mu * sqrt (1 - alpha) / (1 + sqrt (1 - alpha)) ^ 2))) / 4)).
Definition card_Psi (s : @state V) : R :=
  1 * sq (x s -v xs -v vmean n (fun i => e s i)) + 1 / (sqrt (1 - alpha) * INR n) * sum n (fun i => sq (e s i)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (fun i => 0 *v x0) (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v vmean n (fun i => m i)) (fun i => e s i +v gamma *v (grad i (x s)) -v m i) (sent s + b)) (C (fun i => e s i +v gamma *v (grad i (x s)))).
End Card.
End EF_Feedback.

(* EF, nonconvex: nonconvex_mean of EFNonconvex.v *)
Module EF_VirtualModel.
Import Certibit.methods.EFNonconvex.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  0 < alpha /\
  0 < gamma /\
  gamma * L + (sqrt (1 - alpha) / (1 - sqrt (1 - alpha))) ^ 2 * (gamma * L) ^ 2 < 1.
Definition card_descent : R :=
  gamma / 2 * (1 - gamma * L) - gamma * L ^ 2 / (2 * (1 - sqrt (1 - alpha))) * gamma ^ 2 * (sqrt (1 - alpha)) ^ 2 / (1 - sqrt (1 - alpha)).
Definition card_dissimilarity : R :=
  gamma * L ^ 2 / (2 * (1 - sqrt (1 - alpha))) * (gamma * sqrt (1 - alpha)) ^ 2 / (1 - (sqrt (1 - alpha)) ^ 2).
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s -v vmean n (fun i => e s i)) - fs) + gamma * L ^ 2 / (2 * (1 - sqrt (1 - alpha))) / INR n * sum n (fun i => sq (e s i)).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (fun i => 0 *v x0) (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v vmean n (fun i => m i)) (fun i => e s i +v gamma *v (grad i (x s)) -v m i) (sent s + b)) (C (fun i => e s i +v gamma *v (grad i (x s)))).
End Card.
End EF_VirtualModel.

(* compressed gradient descent, one client: accuracy of CompressedGD.v *)
Module CompressedGD_InexactGradients.
Import Certibit.methods.CompressedGD.
Section Card.
Context {V : space} (n d : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (grad_g : V -> V)
  (xs : V) (fs : R) (C : (nat -> V) -> dist (nat -> V)) (G : dist (nat -> V -> V)) (b b_full : R)
  (mu L L_f L_tilde A difference omega omega_av omega_C alpha alpha_C gamma chi rho p q : R)
  (a ridge eta lambda_ nu share : R)
  (coin_p : 0 <= p <= 1).
Definition card_conditions : Prop :=
  INR n <= 1 /\
  0 < alpha /\
  0 < gamma /\
  gamma <= 2 / (0 + (1 - sqrt (1 - alpha)) * mu + (1 + sqrt (1 - alpha)) * L).
Definition card_rate : R :=
  1 - gamma * ((1 - sqrt (1 - alpha)) * mu + (1 + sqrt (1 - alpha)) * L) / 2 * (1 - (((1 + sqrt (1 - alpha)) * L - (1 - sqrt (1 - alpha)) * mu) / ((1 + sqrt (1 - alpha)) * L + (1 - sqrt (1 - alpha)) * mu)) ^ 2).
Definition card_Psi (s : @state V) : R :=
  1 * (fmean n f (x s) - fs).
Definition code_start (x0 : V) : dist (@state V) :=
  ret (State x0 (0)).
Definition code_step (s : @state V) : dist (@state V) :=
  dmap (fun m => State (x s -v gamma *v (vmean n (fun i => m i))) (sent s + b)) (C (fun i => grad i (x s))).
End Card.
End CompressedGD_InexactGradients.
