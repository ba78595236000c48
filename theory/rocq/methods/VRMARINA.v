(* VR-MARINA, arXiv:2102.07845: MARINA for nonconvex functions whose samples are smooth in mean square. *)
From Certibit Require Export Functions Compressors Rounds Nonconvex Samples.

Definition spread (n : nat) (L_tilde difference omega_av : R) : R :=
  omega_av * L_tilde ^ 2 + (omega_av + 1 / INR n) * difference ^ 2.
Definition conditions (n : nat) (L_f L_tilde difference omega_av gamma p : R) : Prop :=
  0 < p /\ p <= 1 /\ 0 < gamma /\
  gamma <= 1 / (L_f + sqrt (Rmax 0 (spread n L_tilde difference omega_av * (1 - p) / p))).
Definition descent (gamma : R) : R := gamma / 2.

Section VRMARINA.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs : R).
Context (D : nat -> dist (V -> V)) (C : (nat -> V) -> dist (nat -> V)) (b_full b : R).
Context (L_f : R) (L : nat -> R) (L_tilde difference omega omega_av gamma p : R) (coin_p : 0 <= p <= 1).

Record state := State { x : V; g : V; sent : R }.
Definition start (x0 : V) : state := State x0 (vmean n (fun i => grad i x0)) (0 + b_full).

(* One coin for all clients. *)
Definition step (G : dist (nat -> V -> V)) (s : state) : dist state :=
  let x1 := x s -v gamma *v g s in
  bind (coin p coin_p) (fun full => if full
    then ret (State x1 (vmean n (fun i => grad i x1)) (sent s + b_full))
    else bind G (fun xi => dmap (fun m => State x1 (g s +v vmean n m) (sent s + b))
      (C (fun i => xi i x1 -v xi i (x s))))).

Definition Psi (s : state) : R :=
  fmean n f (x s) - fs + gamma / (2 * p) * sq (g s -v gmean n grad (x s)).
Definition squared_gradient (s : state) : R := sq (gmean n grad (x s)).
Notation run := (rounds (step (samples n D))).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : class (- L_f) L_f (fmean n f) (gmean n grad).
Hypothesis fi_class : forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i).
Hypothesis L_f_pos : 0 < L_f.
Hypothesis L_pos : forall i, (i < n)%nat -> 0 <= L i.
Hypothesis L_tilde_square : L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2).
Hypothesis bounded : forall x, fs <= fmean n f x.
Hypothesis fair : unbiased_samples n grad D.
Hypothesis smooth : forall x y, mean_difference n grad D x y <= difference ^ 2 * sq (x -v y).
Hypothesis compressors : messages n omega omega_av C.
Hypothesis omega_av_pos : 0 <= omega_av.
Hypothesis parameters : conditions n L_f L_tilde difference omega_av gamma p.

(* The squares of differences of sampled gradients: those of gradients, and the noise. *)
Lemma sampled_squares x1 x0 :
  / INR n * E (samples n D) (fun xi => sum n (fun i => sq (xi i x1 -v xi i x0))) <=
    (L_tilde ^ 2 + difference ^ 2) * sq (x1 -v x0).
Proof.
  rewrite Rmult_plus_distr_r. pose proof (mean_lipschitz n f grad L L_tilde x1 x0 n_pos fi_class L_pos L_tilde_square).
  pose proof (smooth x1 x0) as Hs. unfold mean_difference in Hs.
  rewrite E_sum.
  rewrite (sum_ext n _ (fun i => sq (grad i x1 -v grad i x0)
    + E (D i) (fun xi => sq (noise grad i xi x1 -v noise grad i xi x0)))).
  - rewrite sum_plus. lra.
  - intros i Hi. unfold samples. rewrite (marginal n D _ i (fun xi => sq (xi x1 -v xi x0))) by auto.
    rewrite (E_ext _ _ (fun xi => sq (xi x1 -v xi x0 -v zero))) by (intros; expand; ring).
    rewrite (bias_variance _ _ (grad i x1 -v grad i x0)).
    + f_equal; [expand; ring|]. apply E_ext. intros xi. unfold noise. expand. ring.
    + intros z. rewrite (E_ext _ _ (fun xi => dot (xi x1) z - dot (xi x0) z)) by (intros; apply dot_sub_l).
      rewrite E_minus, !fair by auto. symmetry. apply dot_sub_l.
Qed.

Lemma estimate s (x1 := x s -v gamma *v g s) :
  E (samples n D) (fun xi => E (C (fun i => xi i x1 -v xi i (x s)))
    (fun m => sq (g s +v vmean n m -v gmean n grad x1))) <=
  sq (g s -v gmean n grad (x s)) + spread n L_tilde difference omega_av * (gamma ^ 2 * sq (g s)).
Proof.
  pose proof (Rinv_0_lt_compat _ (INR_pos n n_pos)) as Hn.
  set (c := vmean n (fun i => grad i x1 -v grad i (x s))).
  assert (Hc : forall z, dot c z = dot (gmean n grad x1) z - dot (gmean n grad (x s)) z)
    by (intros; apply dot_vmean_sub).
  apply Rle_trans with (E (samples n D) (fun xi =>
    sq (vmean n (fun i => xi i x1 -v xi i (x s)) -v (gmean n grad x1 -v g s))
      + omega_av * / INR n * sum n (fun i => sq (xi i x1 -v xi i (x s))))).
  { apply E_le. intros xi. set (d := fun i => xi i x1 -v xi i (x s)).
    rewrite (E_ext _ _ (fun m => sq (vmean n m -v (gmean n grad x1 -v g s)))) by (intros; expand; ring).
    rewrite (bias_variance _ _ (vmean n d)) by (intros; now apply (mean_of_messages n omega omega_av C)).
    apply Rplus_le_compat_l. apply (var_av _ _ _ _ compressors). }
  rewrite E_plus, E_scal, Rmult_assoc.
  assert (H1 : E (samples n D) (fun xi => sq (vmean n (fun i => xi i x1 -v xi i (x s)) -v (gmean n grad x1 -v g s))) <=
    sq (g s -v gmean n grad (x s)) + / INR n * (difference ^ 2 * sq (x1 -v x s))).
  { rewrite (bias_variance _ _ c).
    - apply Rplus_le_compat.
      + right. apply same_sq. intros z. rewrite !dot_sub_l, Hc. ring.
      + unfold c. rewrite (difference_variance n grad D fair). apply Rmult_le_compat_l; [lra|apply smooth].
    - intros z. unfold c. rewrite dot_vmean_sub.
      rewrite (E_ext _ _ (fun xi => dot (sampled n xi x1) z - dot (sampled n xi (x s)) z))
        by (intros; apply dot_vmean_sub).
      rewrite E_minus, !(sampled_mean n grad D fair). reflexivity. }
  pose proof (sampled_squares x1 (x s)) as H2. apply (Rmult_le_compat_l omega_av) in H2; [|auto].
  replace (sq (x1 -v x s)) with (gamma ^ 2 * sq (g s)) in H1, H2 by (unfold x1; expand; ring).
  unfold spread, Rdiv. lra.
Qed.

Theorem one_step s : E (step (samples n D) s) Psi <= Psi s - descent gamma * squared_gradient s.
Proof.
  destruct parameters as (Hp & Hp1 & Hg & Hg1). unfold descent. pose proof (INR_pos n n_pos) as Hn.
  pose proof (estimate s) as He. cbn zeta in He.
  pose proof (inexact_step (gamma := gamma) (x s) (g s) f_class) as Hf. fold (squared_gradient s) in Hf.
  unfold step. set (x1 := x s -v gamma *v g s) in *.
  rewrite E_bind, E_coin, E_ret, E_bind.
  rewrite (E_ext (samples n D) _ (fun xi => fmean n f x1 - fs + gamma / (2 * p) *
    E (C (fun i => xi i x1 -v xi i (x s))) (fun m => sq (g s +v vmean n m -v gmean n grad x1)))).
  2:{ intros xi. rewrite E_dmap. unfold Psi. cbn [x g]. now rewrite E_plus, E_const, E_scal. }
  rewrite E_plus, E_const, E_scal. unfold Psi. cbn [x g].
  change (vmean n (fun i => grad i x1)) with (gmean n grad x1).
  replace (sq (gmean n grad x1 -v gmean n grad x1)) with 0 by (expand; ring).
  set (w := gamma / (2 * p)) in *. assert (Hw : 0 < w) by (apply Rdiv_lt_0_compat; lra).
  set (q := sq (g s -v gmean n grad (x s))) in *. set (r := sq (g s)) in *.
  set (S := spread n L_tilde difference omega_av) in *.
  assert (HS : 0 <= S).
  { unfold S, spread. assert (0 < 1 / INR n) by (apply Rdiv_lt_0_compat; lra).
    apply Rplus_le_le_0_compat; apply Rmult_le_pos; try apply pow2_ge_0; lra. }
  apply (Rmult_le_compat_l (w * (1 - p))) in He; [|apply Rmult_le_pos; lra].
  assert (Hr : 0 <= r) by apply sq_pos.
  assert (Hs : 0 <= S * (1 - p) / p).
  { apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. left. now apply Rinv_0_lt_compat. }
  rewrite (Rmax_right _ _ Hs), <- (Rmult_1_l (sqrt _)) in Hg1.
  pose proof (largest_step _ _ _ _ L_f_pos Rle_0_1 Hs Hg Hg1) as Hcoef.
  apply (Rmult_le_compat_r (gamma / 2 * r)) in Hcoef; [|apply Rmult_le_pos; lra].
  replace ((1 - gamma * L_f - gamma ^ 2 * (1 ^ 2 * (S * (1 - p) / p))) * (gamma / 2 * r))
    with ((gamma / 2 - L_f / 2 * gamma ^ 2) * r - w * (1 - p) * (S * (gamma ^ 2 * r))) in Hcoef
    by (unfold w; field; lra).
  replace (w * (1 - p) * (q + S * (gamma ^ 2 * r)))
    with (w * q - gamma / 2 * q + w * (1 - p) * (S * (gamma ^ 2 * r))) in He by (unfold w; field; lra).
  lra.
Qed.

Lemma always_all s : True -> always (step (samples n D) s) (fun _ => True).
Proof. intros; apply always_true. Qed.

Theorem T_rounds T x0 :
  descent gamma * sum T (fun t => E (run t (start x0)) squared_gradient) + E (run T (start x0)) Psi <=
    Psi (start x0).
Proof.
  pose proof (Rounds.descent _ (fun _ => True) Psi squared_gradient (descent gamma) 0 always_all) as H.
  specialize (H ltac:(intros s _; pose proof (one_step s); lra) T (start x0) I). lra.
Qed.

Theorem bits T x0 : E (run T (start x0)) sent = b_full + INR T * (p * b_full + (1 - p) * b).
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + (p * b_full + (1 - p) * b))); [rewrite E_plus, E_const, IHT; ring|].
  intros s. unfold step. rewrite E_bind, E_coin, E_ret, E_bind.
  rewrite (E_ext (samples n D) _ (fun _ => sent s + b)) by (intros; rewrite E_dmap; cbn [sent]; apply E_const).
  rewrite E_const. cbn. ring.
Qed.

(* Rounds, and bits per client, until the mean of E|grad f(x_t)|^2 over t < T is at most eps. *)
Theorem accuracy T x0 eps : 0 < eps -> (1 <= T)%nat ->
  2 * (fmean n f x0 - fs) / (gamma * eps) <= INR T ->
  / INR T * sum T (fun t => E (run t (start x0)) squared_gradient) <= eps /\
  E (run T (start x0)) sent = b_full + INR T * (p * b_full + (1 - p) * b).
Proof.
  intros He HT H. split; [|apply bits]. destruct parameters as (Hp & Hp1 & Hg & _).
  assert (Hw : 0 < gamma / (2 * p)) by (apply Rdiv_lt_0_compat; lra).
  apply (average (descent gamma) (Psi (start x0))); auto.
  - unfold descent. lra.
  - pose proof (T_rounds T x0). assert (0 <= E (run T (start x0)) Psi); [|lra].
    apply E_nonneg. intros s. unfold Psi. pose proof (bounded (x s)).
    pose proof (sq_pos (g s -v gmean n grad (x s))). nra.
  - unfold Psi, descent, start. cbn [x g].
    replace (sq (vmean n (fun i => grad i x0) -v gmean n grad x0)) with 0
      by (change (vmean n (fun i => grad i x0)) with (gmean n grad x0); expand; ring).
    eapply Rle_trans; [|exact H]. right. field. lra.
Qed.
End VRMARINA.
