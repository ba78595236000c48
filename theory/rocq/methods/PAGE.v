(* PAGE, arXiv:2008.10898, for n clients: nonconvex functions whose samples are smooth in mean square. *)
From Certibit Require Export Functions Rounds Nonconvex Samples.

Definition conditions (n : nat) (L_f difference gamma p : R) : Prop :=
  0 < p /\ p <= 1 /\ 0 < gamma /\
  gamma <= 1 / (L_f + difference * sqrt (Rmax 0 ((1 - p) / (p * INR n)))).
Definition descent (gamma : R) : R := gamma / 2.

Section PAGE.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs b : R).
Context (D : nat -> dist (V -> V)) (L_f difference gamma p : R) (coin_p : 0 <= p <= 1).

Record state := State { x : V; g : V; sent : R }.
Definition start (x0 : V) : state := State x0 (vmean n (fun i => grad i x0)) (0 + b).

(* One coin for all clients. *)
Definition step (G : dist (nat -> V -> V)) (s : state) : dist state :=
  let x1 := x s -v gamma *v g s in
  bind (coin p coin_p) (fun exact => if exact
    then ret (State x1 (vmean n (fun i => grad i x1)) (sent s + b))
    else bind G (fun xi =>
      ret (State x1 (g s +v vmean n (fun i => xi i x1 -v xi i (x s))) (sent s + b)))).

Definition Psi (s : state) : R :=
  fmean n f (x s) - fs + gamma / (2 * p) * sq (g s -v gmean n grad (x s)).
Definition squared_gradient (s : state) : R := sq (gmean n grad (x s)).
Notation run := (rounds (step (samples n D))).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : class (- L_f) L_f (fmean n f) (gmean n grad).
Hypothesis L_f_pos : 0 < L_f.
Hypothesis bounded : forall x, fs <= fmean n f x.
Hypothesis fair : unbiased_samples n grad D.
Hypothesis difference_pos : 0 <= difference.
Hypothesis smooth : forall x y, mean_difference n grad D x y <= difference ^ 2 * sq (x -v y).
Hypothesis parameters : conditions n L_f difference gamma p.

(* E|g + mean_i (xi_i(x+) - xi_i(x)) - grad f(x+)|^2 <= |g - grad f(x)|^2 + difference^2 |x+ - x|^2/n. *)
Lemma estimate s (x1 := x s -v gamma *v g s) :
  E (samples n D) (fun xi => sq (g s +v vmean n (fun i => xi i x1 -v xi i (x s)) -v gmean n grad x1)) <=
  sq (g s -v gmean n grad (x s)) + / INR n * (difference ^ 2 * (gamma ^ 2 * sq (g s))).
Proof.
  set (c := vmean n (fun i => grad i x1 -v grad i (x s))).
  assert (Hc : forall z, dot c z = dot (gmean n grad x1) z - dot (gmean n grad (x s)) z)
    by (intros; apply dot_vmean_sub).
  rewrite (E_ext _ _ (fun xi => sq (vmean n (fun i => xi i x1 -v xi i (x s)) -v (gmean n grad x1 -v g s))))
    by (intros; expand; ring).
  rewrite (bias_variance _ _ c).
  - apply Rplus_le_compat.
    + right. apply same_sq. intros z. rewrite !dot_sub_l, Hc. ring.
    + unfold c. rewrite (difference_variance n grad D fair). apply Rmult_le_compat_l.
      * left. now apply Rinv_0_lt_compat, INR_pos.
      * eapply Rle_trans; [apply smooth|]. right. unfold x1. expand. ring.
  - intros z. unfold c. rewrite dot_vmean_sub.
    rewrite (E_ext _ _ (fun xi => dot (sampled n xi x1) z - dot (sampled n xi (x s)) z))
      by (intros; apply dot_vmean_sub).
    rewrite E_minus, !(sampled_mean n grad D fair). reflexivity.
Qed.

Theorem one_step s : E (step (samples n D) s) Psi <= Psi s - descent gamma * squared_gradient s.
Proof.
  destruct parameters as (Hp & Hp1 & Hg & Hg1). unfold descent. pose proof (INR_pos n n_pos) as Hn.
  pose proof (estimate s) as He. cbn zeta in He.
  pose proof (inexact_step (gamma := gamma) (x s) (g s) f_class) as Hf. fold (squared_gradient s) in Hf.
  unfold step. set (x1 := x s -v gamma *v g s) in *.
  rewrite E_bind, E_coin, E_ret, E_bind.
  rewrite (E_ext (samples n D) _ (fun xi => fmean n f x1 - fs
    + gamma / (2 * p) * sq (g s +v vmean n (fun i => xi i x1 -v xi i (x s)) -v gmean n grad x1)))
    by (intros; rewrite E_ret; reflexivity).
  rewrite E_plus, E_const, E_scal. unfold Psi. cbn [x g].
  change (vmean n (fun i => grad i x1)) with (gmean n grad x1).
  replace (sq (gmean n grad x1 -v gmean n grad x1)) with 0 by (expand; ring).
  set (w := gamma / (2 * p)) in *. assert (Hw : 0 < w) by (apply Rdiv_lt_0_compat; lra).
  set (q := sq (g s -v gmean n grad (x s))) in *. set (r := sq (g s)) in *.
  apply (Rmult_le_compat_l (w * (1 - p))) in He; [|apply Rmult_le_pos; lra].
  assert (Hr : 0 <= r) by apply sq_pos.
  assert (Hs : 0 <= (1 - p) / (p * INR n)).
  { apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. now apply Rmult_lt_0_compat. }
  rewrite (Rmax_right _ _ Hs) in Hg1.
  pose proof (largest_step _ _ _ _ L_f_pos difference_pos Hs Hg Hg1) as Hcoef.
  apply (Rmult_le_compat_r (gamma / 2 * r)) in Hcoef; [|apply Rmult_le_pos; lra].
  replace ((1 - gamma * L_f - gamma ^ 2 * (difference ^ 2 * ((1 - p) / (p * INR n)))) * (gamma / 2 * r))
    with ((gamma / 2 - L_f / 2 * gamma ^ 2) * r
      - w * (1 - p) * (/ INR n * (difference ^ 2 * (gamma ^ 2 * r)))) in Hcoef by (unfold w; field; lra).
  replace (w * (1 - p) * (q + / INR n * (difference ^ 2 * (gamma ^ 2 * r))))
    with (w * q - gamma / 2 * q + w * (1 - p) * (/ INR n * (difference ^ 2 * (gamma ^ 2 * r)))) in He
    by (unfold w; field; lra).
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

Theorem bits T x0 : E (run T (start x0)) sent = (INR T + 1) * b.
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + b)); [rewrite E_plus, E_const, IHT; ring|].
  intros s. unfold step. rewrite E_bind, E_coin, E_ret, E_bind.
  rewrite (E_ext (samples n D) _ (fun _ => sent s + b)) by (intros; rewrite E_ret; reflexivity). rewrite E_const. cbn. ring.
Qed.

(* Rounds, and bits per client, until the mean of E|grad f(x_t)|^2 over t < T is at most eps. *)
Theorem accuracy T x0 eps : 0 < eps -> (1 <= T)%nat ->
  2 * (fmean n f x0 - fs) / (gamma * eps) <= INR T ->
  / INR T * sum T (fun t => E (run t (start x0)) squared_gradient) <= eps /\
  E (run T (start x0)) sent = (INR T + 1) * b.
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
End PAGE.
