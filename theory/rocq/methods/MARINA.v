(* MARINA, arXiv:2102.07845: nonconvex f_i, and the Polyak-Lojasiewicz condition. *)
From Certibit Require Export Functions Compressors Rounds Nonconvex.

Definition conditions (L_f L_tilde omega_av gamma p : R) : Prop :=
  0 < p /\ p <= 1 /\ 0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt ((1 - p) * omega_av / p)).
Definition descent (gamma : R) : R := gamma / 2.

(* The Polyak-Lojasiewicz condition. *)
Definition PL_conditions (mu L_f L_tilde omega_av gamma p : R) : Prop :=
  0 < p /\ p <= 1 /\ 0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (2 * (1 - p) * omega_av / p)) /\ gamma <= p / (2 * mu).
Definition PL_rate (mu gamma : R) : R := 1 - gamma * mu.

Section MARINA.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs : R).
Context (C : (nat -> V) -> dist (nat -> V)) (b_full b : R).
Context (mu L_f : R) (L : nat -> R) (L_tilde omega omega_av gamma p : R) (coin_p : 0 <= p <= 1).

Record state := State { x : V; g : V; gradient : nat -> V; sent : R }.

Definition start (x0 : V) : state :=
  State x0 (vmean n (fun i => grad i x0)) (fun i => grad i x0) b_full.

(* One coin for all clients. *)
Definition step (s : state) : dist state :=
  let x1 := x s -v gamma *v g s in
  let new := fun i => grad i x1 in
  bind (coin p coin_p) (fun full => if full
    then ret (State x1 (vmean n new) new (sent s + b_full))
    else dmap (fun m => State x1 (g s +v vmean n m) new (sent s + b))
      (C (fun i => new i -v gradient s i))).

Definition inv (s : state) : Prop := gradient s = fun i => grad i (x s).
Definition potential (w : R) (s : state) : R :=
  fmean n f (x s) - fs + w * sq (g s -v vmean n (gradient s)).
Definition Psi : state -> R := potential (gamma / (2 * p)).
Definition PL_Psi : state -> R := potential (gamma / p).
Definition squared_gradient (s : state) : R := sq (gmean n grad (x s)).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : class (- L_f) L_f (fmean n f) (gmean n grad).
Hypothesis fi_class : forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i).
Hypothesis L_f_pos : 0 < L_f.
Hypothesis L_pos : forall i, (i < n)%nat -> 0 <= L i.
Hypothesis L_tilde_pos : 0 <= L_tilde.
Hypothesis L_tilde_square : L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2).
Hypothesis compressors : messages n omega omega_av C.
Hypothesis omega_av_pos : 0 <= omega_av.
Hypothesis bounded : forall x, fs <= fmean n f x.

Lemma start_inv x0 : inv (start x0).
Proof. reflexivity. Qed.

Lemma keeps s : inv s -> always (step s) inv.
Proof.
  intros _. eapply always_bind; [apply always_true|]. intros [|] _.
  - now apply always_ret.
  - now apply always_dmap.
Qed.

(* E|g + mean_i m_i - grad f(x+)|^2 <= |g - grad f(x)|^2 + omega_av L_tilde^2 |x+ - x|^2. *)
Lemma estimate s (x1 := x s -v gamma *v g s) : inv s ->
  E (C (fun i => grad i x1 -v gradient s i))
    (fun m => sq (g s +v vmean n m -v vmean n (fun i => grad i x1))) <=
  sq (g s -v gmean n grad (x s)) + omega_av * (L_tilde ^ 2 * (gamma ^ 2 * sq (g s))).
Proof.
  intros Hs. rewrite Hs. set (v := fun i => grad i x1 -v grad i (x s)).
  rewrite (bias_variance _ _ (g s +v vmean n v)).
  - apply Rplus_le_compat.
    + right. apply same_sq. intros z. unfold v, gmean. rewrite !dot_sub_l, dot_add_l, dot_vmean_sub. ring.
    + rewrite (E_ext _ _ (fun m => sq (vmean n m -v vmean n v))) by (intros; expand; ring).
      eapply Rle_trans; [apply compressors|]. unfold Rdiv. rewrite Rmult_assoc.
      apply Rmult_le_compat_l; [auto|].
      eapply Rle_trans; [apply (mean_lipschitz n f grad L L_tilde x1 (x s)); auto|].
      right. f_equal. unfold x1. expand. ring.
  - intros z. rewrite (E_ext _ _ (fun m => dot (g s) z + dot (vmean n m) z)) by (intros; expand; ring).
    rewrite E_plus, E_const, (mean_of_messages n omega omega_av C) by auto. expand. ring.
Qed.

(* One step for any weight w of the estimate's error. *)
Lemma any_weight w s : 0 < gamma -> 0 <= w -> inv s ->
  E (step s) (potential w) <= fmean n f (x s) - fs - gamma / 2 * squared_gradient s
    - (gamma / 2 - L_f / 2 * gamma ^ 2) * sq (g s)
    + gamma / 2 * sq (g s -v vmean n (gradient s))
    + w * (1 - p) * (sq (g s -v vmean n (gradient s)) + omega_av * (L_tilde ^ 2 * (gamma ^ 2 * sq (g s)))).
Proof.
  intros Hg Hw Hs. pose proof (estimate s Hs) as He. cbn zeta in He.
  pose proof (inexact_step (gamma := gamma) (x s) (g s) f_class) as Hf. fold (squared_gradient s) in Hf.
  replace (vmean n (gradient s)) with (gmean n grad (x s)) by now rewrite Hs.
  unfold step. set (x1 := x s -v gamma *v g s) in *.
  rewrite E_bind, E_coin, E_ret, E_dmap. unfold potential. cbn [x g gradient].
  rewrite E_plus, E_const, E_scal.
  replace (sq (vmean n _ -v vmean n _)) with 0 by (expand; ring).
  apply (Rmult_le_compat_l (w * (1 - p))) in He; [|apply Rmult_le_pos; lra].
  lra.
Qed.

Lemma Psi_bounds w s : 0 <= w -> fmean n f (x s) - fs <= potential w s /\ 0 <= potential w s.
Proof.
  intros Hw. pose proof (sq_pos (g s -v vmean n (gradient s))) as H. pose proof (bounded (x s)).
  assert (0 <= w * sq (g s -v vmean n (gradient s))) by now apply Rmult_le_pos.
  unfold potential. lra.
Qed.

Lemma potential_start w x0 : potential w (start x0) = fmean n f x0 - fs.
Proof. unfold potential, start. cbn [x g gradient]. expand. ring. Qed.

Theorem bits T x0 : E (rounds step T (start x0)) sent = b_full + INR T * (p * b_full + (1 - p) * b).
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + (p * b_full + (1 - p) * b))).
  - rewrite E_plus, E_const, IHT. ring.
  - intros s. unfold step. rewrite E_bind, E_coin, E_ret, E_dmap. cbn [sent]. rewrite E_const. ring.
Qed.

Section Nonconvex.
Hypothesis parameters : conditions L_f L_tilde omega_av gamma p.

Theorem one_step s : inv s -> E (step s) Psi <= Psi s - descent gamma * squared_gradient s.
Proof.
  intros Hs. destruct parameters as (Hp & Hp1 & Hg & Hg1). unfold Psi, descent.
  assert (Hw : 0 <= gamma / (2 * p)) by (left; apply Rdiv_lt_0_compat; lra).
  eapply Rle_trans; [now apply any_weight|]. unfold potential.
  set (G := sq (g s -v vmean n (gradient s))). set (r := sq (g s)).
  assert (Hr : 0 <= r) by apply sq_pos.
  assert (Hn : 0 <= (1 - p) * omega_av / p).
  { apply Rmult_le_pos; [apply Rmult_le_pos; lra|left; now apply Rinv_0_lt_compat]. }
  pose proof (largest_step _ _ _ _ L_f_pos L_tilde_pos Hn Hg Hg1) as Hcoef.
  apply (Rmult_le_compat_r (gamma / 2 * r)) in Hcoef; [|apply Rmult_le_pos; lra].
  replace ((1 - gamma * L_f - gamma ^ 2 * (L_tilde ^ 2 * ((1 - p) * omega_av / p))) * (gamma / 2 * r))
    with ((gamma / 2 - L_f / 2 * gamma ^ 2) * r
      - gamma / (2 * p) * (1 - p) * (omega_av * (L_tilde ^ 2 * (gamma ^ 2 * r)))) in Hcoef by (field; lra).
  replace (gamma / (2 * p) * (1 - p) * (G + omega_av * (L_tilde ^ 2 * (gamma ^ 2 * r))))
    with (gamma / (2 * p) * G - gamma / 2 * G
      + gamma / (2 * p) * (1 - p) * (omega_av * (L_tilde ^ 2 * (gamma ^ 2 * r)))) by (field; lra).
  lra.
Qed.

Theorem T_rounds T x0 :
  descent gamma * sum T (fun t => E (rounds step t (start x0)) squared_gradient)
    + E (rounds step T (start x0)) Psi <= Psi (start x0).
Proof.
  pose proof (Rounds.descent step inv Psi squared_gradient (descent gamma) 0 keeps) as Hd.
  specialize (Hd ltac:(intros s Hs; pose proof (one_step s Hs); lra) T (start x0) (start_inv x0)). lra.
Qed.

(* Rounds, and expected bits per client, until the mean of E|grad f(x_t)|^2 over t < T is at most eps. *)
Theorem accuracy T x0 eps : 0 < eps -> (1 <= T)%nat ->
  2 * (fmean n f x0 - fs) / (gamma * eps) <= INR T ->
  / INR T * sum T (fun t => E (rounds step t (start x0)) squared_gradient) <= eps /\
  E (rounds step T (start x0)) sent = b_full + INR T * (p * b_full + (1 - p) * b).
Proof.
  intros He HT H. split; [|apply bits]. destruct parameters as (Hp & Hp1 & Hg & Hg1).
  apply (average (descent gamma) (Psi (start x0))); auto.
  - unfold descent. lra.
  - pose proof (T_rounds T x0). assert (0 <= E (rounds step T (start x0)) Psi); [|lra].
    apply E_nonneg. intros s. apply Psi_bounds. left. apply Rdiv_lt_0_compat; lra.
  - unfold Psi, descent. rewrite potential_start. eapply Rle_trans; [|exact H]. right. field. lra.
Qed.
End Nonconvex.

Section PolyakLojasiewicz.
Hypothesis mu_pos : 0 < mu.
Hypothesis PL : forall x, 2 * mu * (fmean n f x - fs) <= sq (gmean n grad x).
Hypothesis parameters : PL_conditions mu L_f L_tilde omega_av gamma p.

Lemma PL_limit : gamma * mu <= p / 2.
Proof.
  destruct parameters as (Hp & Hp1 & Hg & Hg1 & Hg2).
  apply (Rmult_le_compat_r mu) in Hg2; [|lra].
  replace (p / (2 * mu) * mu) with (p / 2) in Hg2 by (field; lra). lra.
Qed.

Lemma PL_rate_nonneg : 0 <= PL_rate mu gamma.
Proof. pose proof PL_limit. destruct parameters as (Hp & Hp1 & _). unfold PL_rate. lra. Qed.

Theorem PL_one_step s : inv s -> E (step s) PL_Psi <= PL_rate mu gamma * PL_Psi s.
Proof.
  intros Hs. destruct parameters as (Hp & Hp1 & Hg & Hg1 & Hg2). pose proof PL_limit as Hl.
  unfold PL_Psi, PL_rate.
  assert (Hw : 0 <= gamma / p) by (left; now apply Rdiv_lt_0_compat).
  eapply Rle_trans; [now apply any_weight|]. unfold potential.
  pose proof (PL (x s)) as Hpl. fold (squared_gradient s) in Hpl.
  set (G := sq (g s -v vmean n (gradient s))). set (r := sq (g s)).
  assert (Hr : 0 <= r) by apply sq_pos. assert (HG : 0 <= G) by apply sq_pos.
  assert (Hn : 0 <= 2 * (1 - p) * omega_av / p).
  { apply Rmult_le_pos; [apply Rmult_le_pos; lra|left; now apply Rinv_0_lt_compat]. }
  pose proof (largest_step _ _ _ _ L_f_pos L_tilde_pos Hn Hg Hg1) as Hcoef.
  apply (Rmult_le_compat_r (gamma / 2 * r)) in Hcoef; [|apply Rmult_le_pos; lra].
  replace ((1 - gamma * L_f - gamma ^ 2 * (L_tilde ^ 2 * (2 * (1 - p) * omega_av / p))) * (gamma / 2 * r))
    with ((gamma / 2 - L_f / 2 * gamma ^ 2) * r
      - gamma / p * (1 - p) * (omega_av * (L_tilde ^ 2 * (gamma ^ 2 * r)))) in Hcoef by (field; lra).
  replace (gamma / p * (1 - p) * (G + omega_av * (L_tilde ^ 2 * (gamma ^ 2 * r))))
    with (gamma / p * G - gamma * G
      + gamma / p * (1 - p) * (omega_av * (L_tilde ^ 2 * (gamma ^ 2 * r)))) by (field; lra).
  apply (Rmult_le_compat_l (gamma / 2)) in Hpl; [|lra].
  apply (Rmult_le_compat_r (gamma / p * G)) in Hl; [|now apply Rmult_le_pos].
  replace (p / 2 * (gamma / p * G)) with (gamma / 2 * G) in Hl by (field; lra). lra.
Qed.

Theorem PL_T_rounds T x0 :
  E (rounds step T (start x0)) PL_Psi <= PL_rate mu gamma ^ T * PL_Psi (start x0).
Proof.
  apply Rounds.T_rounds with (inv := inv); auto using keeps, PL_rate_nonneg, PL_one_step, start_inv.
Qed.

Theorem PL_accuracy T x0 eps : 0 < eps -> 0 < fmean n f x0 - fs ->
  ln ((fmean n f x0 - fs) / eps) / (gamma * mu) <= INR T ->
  E (rounds step T (start x0)) (fun s => fmean n f (x s) - fs) <= eps /\
  E (rounds step T (start x0)) sent = b_full + INR T * (p * b_full + (1 - p) * b).
Proof.
  intros He HP HT. split; [|apply bits]. destruct parameters as (Hp & Hp1 & Hg & Hg1 & Hg2).
  apply Rle_trans with (E (rounds step T (start x0)) PL_Psi).
  - apply E_le. intros s. apply Psi_bounds. left. now apply Rdiv_lt_0_compat.
  - eapply Rle_trans; [apply PL_T_rounds|]. unfold PL_Psi. rewrite potential_start.
    apply enough_rounds; auto.
    + split; [apply PL_rate_nonneg|]. unfold PL_rate.
      assert (0 < gamma * mu) by now apply Rmult_lt_0_compat. lra.
    + unfold PL_rate. now replace (1 - (1 - gamma * mu)) with (gamma * mu) by ring.
Qed.
End PolyakLojasiewicz.
End MARINA.
