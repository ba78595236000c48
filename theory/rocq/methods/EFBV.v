(* EF-BV, arXiv:2205.04180: compressors of a bias and a variance; Polyak-Lojasiewicz condition, and nonconvex f_i. *)
From Certibit Require Export Functions Compressors Rounds Nonconvex.

Definition left (lambda_ eta omega : R) : R := (1 - lambda_ + lambda_ * eta) ^ 2 + lambda_ ^ 2 * omega.
Definition root (r : R) : R := sqrt ((1 + r) / 2).
Definition conditions (L_f L_tilde eta omega omega_av gamma lambda_ nu : R) : Prop :=
  let r := left lambda_ eta omega in let r_av := left nu eta omega_av in
  0 < lambda_ /\ lambda_ <= 1 /\ 0 < nu /\ nu <= 1 /\ r < 1 /\ (if Req_EM_T r 0 then r_av else 0) <= 0 /\
  0 < gamma /\ gamma <= 1 / (L_f + L_tilde * (sqrt r_av / (root r - sqrt r))).
Definition rate (mu eta omega gamma lambda_ : R) : R :=
  Rmax (1 - gamma * mu) ((1 + left lambda_ eta omega) / 2).
Definition descent (gamma : R) : R := gamma / 2.

(* Messages with the means M: |M_i(x) - x_i| <= eta |x_i|, and variances about the means. *)
Record messages_about {V : space} (n : nat) (eta omega omega_av : R) (C : (nat -> V) -> dist (nat -> V))
    (M : (nat -> V) -> nat -> V) : Prop := {
  mean_M : forall x i z, (i < n)%nat -> E (C x) (fun m => dot (m i) z) = dot (M x i) z;
  bias_M : forall x i, (i < n)%nat -> sq (M x i -v x i) <= eta ^ 2 * sq (x i);
  var_M : forall x i, (i < n)%nat -> E (C x) (fun m => sq (m i -v M x i)) <= omega * sq (x i);
  var_M_av : forall x, E (C x) (fun m => sq (vmean n m -v vmean n (M x))) <=
    omega_av * (/ INR n * sum n (fun i => sq (x i))) }.

(* |lambda (x + d) - x| <= (1 - lambda + lambda eta) |x| if |d| <= eta |x|. *)
Lemma biased {V : space} lambda_ eta (m x : V) : 0 <= lambda_ <= 1 -> 0 <= eta ->
  sq (m -v x) <= eta ^ 2 * sq x -> sq (lambda_ *v m -v x) <= (1 - lambda_ + lambda_ * eta) ^ 2 * sq x.
Proof.
  intros Hl He Hd. set (d := m -v x) in *.
  assert (Hc : - dot d x <= eta * sq x).
  { destruct (Rle_lt_or_eq_dec _ _ He) as [Hp|Hz].
    - pose proof (sq_pos (d +v eta *v x)) as H.
      replace (sq (d +v eta *v x)) with (sq d + 2 * eta * dot d x + eta ^ 2 * sq x) in H by (expand; ring).
      apply (Rmult_le_reg_l (2 * eta)); lra.
    - rewrite <- Hz in *. assert (Hs : sq d = 0) by (pose proof (sq_pos d); lra).
      rewrite (null_dot d Hs x). lra. }
  rewrite (same_sq _ (lambda_ *v d -v (1 - lambda_) *v x))
    by (intros z; unfold d; autorewrite with dot; ring).
  replace (sq (lambda_ *v d -v (1 - lambda_) *v x))
    with (lambda_ ^ 2 * sq d + 2 * (lambda_ * (1 - lambda_)) * - dot d x + (1 - lambda_) ^ 2 * sq x)
    by (expand; ring).
  apply (Rmult_le_compat_l (lambda_ ^ 2)) in Hd; [|apply pow2_ge_0].
  apply (Rmult_le_compat_l (2 * (lambda_ * (1 - lambda_)))) in Hc; [lra|].
  apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra.
Qed.

Section EFBV.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs : R).
Context (C : (nat -> V) -> dist (nat -> V)) (M : (nat -> V) -> nat -> V) (b : R).
Context (mu L_f : R) (L : nat -> R) (L_tilde eta omega omega_av gamma lambda_ nu : R).

Record state := State { x : V; h : nat -> V; h_mean : V; g : V; sent : R }.

Definition start (x0 : V) : dist state :=
  dmap (fun m => State x0 (fun i => lambda_ *v m i) (lambda_ *v vmean n m) (nu *v vmean n m) (0 + b))
    (C (fun i => grad i x0)).
Definition step (s : state) : dist state :=
  let x1 := x s -v gamma *v g s in
  dmap (fun m => State x1 (fun i => h s i +v lambda_ *v m i) (h_mean s +v lambda_ *v vmean n m)
    (h_mean s +v nu *v vmean n m) (sent s + b)) (C (fun i => grad i x1 -v h s i)).

Let r : R := left lambda_ eta omega.
Let r_av : R := left nu eta omega_av.
Let t : R := sqrt r.
Let q : R := root r.

Definition weight : R := gamma / (1 + r).
Definition apart : R := weight * r_av / (t * (q -  t)).
Definition shifts (s : state) : R := / INR n * sum n (fun i => sq (h s i -v grad i (x s))).
Definition errors (s : state) : R := weight * sq (g s -v gmean n grad (x s)) + apart * shifts s.
Definition Psi (s : state) : R := fmean n f (x s) - fs + errors s.
Definition squared_gradient (s : state) : R := sq (gmean n grad (x s)).
Definition inv (s : state) : Prop := same (h_mean s) (vmean n (h s)).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : class (- L_f) L_f (fmean n f) (gmean n grad).
Hypothesis fi_class : forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i).
Hypothesis L_f_pos : 0 < L_f.
Hypothesis L_pos : forall i, (i < n)%nat -> 0 <= L i.
Hypothesis L_tilde_pos : 0 <= L_tilde.
Hypothesis L_tilde_square : L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2).
Hypothesis bounded : forall x, fs <= fmean n f x.
Hypothesis eta_pos : 0 <= eta.
Hypothesis omega_pos : 0 <= omega.
Hypothesis omega_av_pos : 0 <= omega_av.
Hypothesis compressors : messages_about n eta omega omega_av C M.
Hypothesis parameters : conditions L_f L_tilde eta omega omega_av gamma lambda_ nu.

Lemma inverse_n : 0 < / INR n.
Proof. apply Rinv_0_lt_compat. now apply INR_pos. Qed.

Lemma left_pos l o : 0 <= o -> 0 <= left l eta o.
Proof. intros Ho. unfold left. pose proof (pow2_ge_0 l). pose proof (pow2_ge_0 (1 - l + l * eta)). nra. Qed.

Lemma keeps s : inv s -> always (step s) inv.
Proof.
  intros Hs. apply always_dmap. intros m z. cbn [h h_mean].
  rewrite dot_add_l, dot_scal_l, (Hs z), !dot_vmean_l.
  rewrite (sum_ext n (fun i => dot (h s i +v lambda_ *v m i) z) (fun i => dot (h s i) z + lambda_ * dot (m i) z))
    by (intros; autorewrite with dot; ring).
  rewrite sum_plus, sum_scal. ring.
Qed.

Lemma start_inv x0 : always (start x0) inv.
Proof.
  apply always_dmap. intros m z. cbn [h h_mean]. rewrite dot_scal_l, !dot_vmean_l.
  rewrite (sum_ext n (fun i => dot (lambda_ *v m i) z) (fun i => lambda_ * dot (m i) z))
    by (intros; apply dot_scal_l).
  rewrite sum_scal. ring.
Qed.

(* What lambda C and nu C lose. *)
Lemma lost y i : (i < n)%nat -> E (C y) (fun m => sq (lambda_ *v m i -v y i)) <= r * sq (y i).
Proof.
  intros Hi. destruct parameters as (Hl & Hl1 & _).
  rewrite (bias_variance _ _ (lambda_ *v M y i)).
  - unfold r, left. rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
    + apply biased; auto; [lra|]. now apply (bias_M _ _ _ _ _ _ compressors).
    + rewrite (E_ext _ _ (fun m => lambda_ ^ 2 * sq (m i -v M y i))) by (intros; expand; ring).
      rewrite E_scal, Rmult_assoc. apply Rmult_le_compat_l; [apply pow2_ge_0|].
      now apply (var_M _ _ _ _ _ _ compressors).
  - intros z. rewrite (E_ext _ _ (fun m => lambda_ * dot (m i) z)) by (intros; apply dot_scal_l).
    rewrite E_scal, (mean_M _ _ _ _ _ _ compressors) by auto. symmetry. apply dot_scal_l.
Qed.

Lemma lost_av y : E (C y) (fun m => sq (nu *v vmean n m -v vmean n y)) <=
  r_av * (/ INR n * sum n (fun i => sq (y i))).
Proof.
  destruct parameters as (_ & _ & Hl & Hl1 & _). pose proof inverse_n as Hn.
  rewrite (bias_variance _ _ (nu *v vmean n (M y))).
  - unfold r_av, left. rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
    + rewrite (same_sq _ (vmean n (fun i => nu *v M y i -v y i))).
      * eapply Rle_trans; [now apply jensen_mean|].
        rewrite <- Rmult_assoc, (Rmult_comm _ (/ INR n)), Rmult_assoc. apply Rmult_le_compat_l; [lra|].
        rewrite <- sum_scal. apply sum_le. intros i Hi. apply biased; auto; [lra|].
        now apply (bias_M _ _ _ _ _ _ compressors).
      * intros z. rewrite dot_vmean_sub, dot_sub_l, dot_scal_l, !dot_vmean_l.
        rewrite (sum_ext n (fun i => dot (nu *v M y i) z) (fun i => nu * dot (M y i) z))
          by (intros; apply dot_scal_l).
        rewrite sum_scal. ring.
    + rewrite (E_ext _ _ (fun m => nu ^ 2 * sq (vmean n m -v vmean n (M y)))) by (intros; expand; ring).
      rewrite E_scal, Rmult_assoc. apply Rmult_le_compat_l; [apply pow2_ge_0|].
      apply (var_M_av _ _ _ _ _ _ compressors).
  - intros z. rewrite (E_ext _ _ (fun m => nu * (/ INR n * sum n (fun i => dot (m i) z))))
      by (intros; now rewrite dot_scal_l, dot_vmean_l).
    rewrite !E_scal, E_sum, dot_scal_l, dot_vmean_l. do 2 f_equal. apply sum_ext. intros.
    now apply (mean_M _ _ _ _ _ _ compressors).
Qed.

Definition sent_square (s : state) : R :=
  / INR n * sum n (fun i => sq (grad i (x s -v gamma *v g s) -v h s i)).

Lemma E_step s : inv s ->
  E (step s) Psi <= fmean n f (x s -v gamma *v g s) - fs + (weight * r_av + apart * r) * sent_square s.
Proof.
  intros Hs. destruct parameters as (_ & _ & _ & _ & Hr & _ & Hg & _). pose proof inverse_n as Hn.
  assert (Hr0 : 0 <= r) by now apply left_pos. assert (Ha0 : 0 <= r_av) by now apply left_pos.
  unfold step, sent_square. set (x1 := x s -v gamma *v g s). set (y := fun i => grad i x1 -v h s i).
  rewrite E_dmap. unfold Psi, errors, shifts. cbn [x h g].
  rewrite E_plus, E_const, E_plus, !E_scal, E_sum.
  assert (Hw : 0 <= weight) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  assert (Hap : 0 <= apart).
  { unfold apart. destruct (Rle_lt_or_eq_dec _ _ Hr0) as [Hp|Hz].
    - assert (t < q) by (apply sqrt_lt_1; fold r in Hr; lra).
      assert (0 < t) by now apply sqrt_lt_R0.
      apply Rmult_le_pos; [now apply Rmult_le_pos|]. left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; lra.
    - unfold t. rewrite <- Hz, sqrt_0, Rmult_0_l. unfold Rdiv.
      destruct parameters as (_ & _ & _ & _ & _ & Hav & _). fold r r_av in Hav.
      destruct (Req_EM_T r 0) as [_|Hn0]; [|now symmetry in Hz].
      replace r_av with 0 by lra. rewrite Rmult_0_r, Rmult_0_l. lra. }
  rewrite Rmult_plus_distr_r. apply Rplus_le_compat_l. apply Rplus_le_compat.
  - rewrite Rmult_assoc. apply Rmult_le_compat_l; [auto|]. eapply Rle_trans; [|apply (lost_av y)].
    right. apply E_ext. intros m. apply same_sq. intros z. unfold y. rewrite !dot_sub_l, dot_add_l, (Hs z), dot_vmean_sub.
    unfold gmean. ring.
  - rewrite Rmult_assoc. apply Rmult_le_compat_l; [auto|].
    rewrite <- Rmult_assoc, (Rmult_comm r), Rmult_assoc. apply Rmult_le_compat_l; [lra|].
    rewrite <- sum_scal. apply sum_le. intros i Hi. eapply Rle_trans; [|apply (lost y i Hi)].
    right. apply E_ext. intros m. apply same_sq. intros z. unfold y. autorewrite with dot. ring.
Qed.

Theorem any_step s : inv s -> E (step s) Psi <=
  fmean n f (x s) - fs - gamma / 2 * squared_gradient s + (1 + r) / 2 * errors s.
Proof.
  intros Hs. destruct parameters as (_ & _ & _ & _ & Hr & Hav & Hg & Hg1). pose proof inverse_n as Hn.
  fold r r_av in Hr, Hav, Hg1. fold t q in Hg1.
  assert (Hr0 : 0 <= r) by now apply left_pos. assert (Ha0 : 0 <= r_av) by now apply left_pos.
  eapply Rle_trans; [now apply E_step|]. unfold errors.
  pose proof (inexact_step (gamma := gamma) (x s) (g s) f_class) as Hf. fold (squared_gradient s) in Hf.
  set (P := sq (g s -v gmean n grad (x s))) in *. set (G := sq (g s)) in *.
  assert (HG : 0 <= G) by apply sq_pos.
  assert (HP : (1 + r) / 2 * (weight * P) = gamma / 2 * P) by (unfold weight; field; lra).
  rewrite Rmult_plus_distr_l, HP.
  assert (Ht : t < q) by (apply sqrt_lt_1; lra). assert (Ht0 : 0 <= t) by apply sqrt_pos.
  assert (Ht2 : t ^ 2 = r) by now apply pow2_sqrt. assert (Hq2 : q ^ 2 = (1 + r) / 2) by (apply pow2_sqrt; lra).
  assert (Hc : 0 <= r_av / (q - t) ^ 2).
  { apply Rmult_le_pos; [auto|]. left. apply Rinv_0_lt_compat. apply pow_lt. lra. }
  assert (Hroot : sqrt r_av / (q - t) = sqrt (r_av / (q - t) ^ 2)).
  { rewrite sqrt_div_alt by (apply pow_lt; lra). f_equal. symmetry. apply sqrt_pow2. lra. }
  rewrite Hroot in Hg1. pose proof (largest_step _ _ _ _ L_f_pos L_tilde_pos Hc Hg Hg1) as Hcoef.
  apply (Rmult_le_compat_r (gamma / 2 * G)) in Hcoef; [|apply Rmult_le_pos; lra].
  destruct (Rle_lt_or_eq_dec _ _ Hr0) as [Hp|Hz].
  - assert (Ht1 : 0 < t) by now apply sqrt_lt_R0.
    assert (Hs1 : 0 < (q - t) / t) by (apply Rdiv_lt_0_compat; lra).
    assert (HH : sent_square s <= q / t * shifts s + q / (q - t) * (L_tilde ^ 2 * (gamma ^ 2 * G))).
    { unfold sent_square, shifts. set (x1 := x s -v gamma *v g s).
      pose proof (mean_lipschitz n f grad L L_tilde x1 (x s) n_pos fi_class L_pos L_tilde_square) as Hlip.
      replace (sq (x1 -v x s)) with (gamma ^ 2 * G) in Hlip by (unfold x1, G; expand; ring).
      apply (Rmult_le_compat_l (q / (q - t))) in Hlip; [|left; apply Rdiv_lt_0_compat; lra].
      assert (Hi := sum_le n (fun i => sq (grad i x1 -v h s i)) (fun i =>
        q / t * sq (h s i -v grad i (x s)) + q / (q - t) * sq (grad i x1 -v grad i (x s)))).
      rewrite sum_plus, !sum_scal in Hi.
      assert (Hi' : / INR n * sum n (fun i => sq (grad i x1 -v h s i)) <= / INR n * (
        q / t * sum n (fun i => sq (h s i -v grad i (x s)))
        + q / (q - t) * sum n (fun i => sq (grad i x1 -v grad i (x s))))).
      { apply Rmult_le_compat_l; [lra|]. apply Hi. intros i _.
        pose proof (young_r _ (h s i -v grad i (x s)) (grad i x1 -v grad i (x s)) Hs1) as Hy.
        replace (1 + (q - t) / t) with (q / t) in Hy by (field; lra).
        replace (1 + / ((q - t) / t)) with (q / (q - t)) in Hy by (field; lra).
        eapply Rle_trans; [|exact Hy]. right. expand. ring. }
      lra. }
    assert (HK : weight * r_av + apart * r = weight * r_av * q / (q - t)).
    { rewrite <- Ht2. unfold apart. field. lra. }
    rewrite HK. assert (Hw : 0 <= weight) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
    apply (Rmult_le_compat_l (weight * r_av * q / (q - t))) in HH.
    2:{ apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra]. apply Rmult_le_pos; [now apply Rmult_le_pos|lra]. }
    replace (weight * r_av * q / (q - t) * (q / t * shifts s + q / (q - t) * (L_tilde ^ 2 * (gamma ^ 2 * G))))
      with (q ^ 2 * (apart * shifts s) + weight * q ^ 2 * (gamma ^ 2 * (L_tilde ^ 2 * (r_av / (q - t) ^ 2)) * G)) in HH
      by (unfold apart; field; lra).
    replace (weight * q ^ 2) with (gamma / 2) in HH by (rewrite Hq2; unfold weight; field; lra).
    rewrite Hq2 in HH. lra.
  - assert (r_av = 0) as Hra.
    { destruct (Req_EM_T r 0) as [_|Hn0]; [lra|now symmetry in Hz]. }
    assert (HA : apart = 0) by (unfold apart, Rdiv; rewrite Hra; ring).
    rewrite HA, Hra, Rmult_0_r, !Rmult_0_l, Rplus_0_r, Rmult_0_l, Rmult_0_r.
    rewrite Hra in Hcoef. replace (0 / (q - t) ^ 2) with 0 in Hcoef by (field; lra). lra.
Qed.

Lemma errors_pos s : 0 <= errors s.
Proof.
  destruct parameters as (_ & _ & _ & _ & Hr & Hav & Hg & _). fold r r_av in Hr, Hav.
  assert (Hr0 : 0 <= r) by now apply left_pos. assert (Ha0 : 0 <= r_av) by now apply left_pos.
  assert (Hw : 0 <= weight) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  assert (Hsh : 0 <= shifts s).
  { apply Rmult_le_pos; [left; apply inverse_n|apply sum_nonneg; intros; apply sq_pos]. }
  unfold errors. apply Rplus_le_le_0_compat; apply Rmult_le_pos; auto using sq_pos.
  unfold apart. destruct (Rle_lt_or_eq_dec _ _ Hr0) as [Hp|Hz].
  - assert (t < q) by (apply sqrt_lt_1; lra). assert (0 < t) by now apply sqrt_lt_R0.
    apply Rmult_le_pos; [now apply Rmult_le_pos|]. left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; lra.
  - destruct (Req_EM_T r 0) as [_|Hn0]; [|now symmetry in Hz].
    replace r_av with 0 by lra. unfold Rdiv. rewrite Rmult_0_r, Rmult_0_l. lra.
Qed.

Theorem bits T x0 : E (bind (start x0) (rounds step T)) sent = (INR T + 1) * b.
Proof.
  rewrite E_bind. unfold start. rewrite E_dmap.
  rewrite (E_ext _ _ (fun _ => (INR T + 1) * b)); [apply E_const|]. intros c.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + b)).
  - rewrite E_plus, E_const, IHT. ring.
  - intros. unfold step. rewrite E_dmap. cbn. apply E_const.
Qed.

Theorem nonconvex_one_step s : inv s -> E (step s) Psi <= Psi s - descent gamma * squared_gradient s.
Proof.
  intros Hs. pose proof (any_step s Hs) as H. pose proof (errors_pos s) as He.
  destruct parameters as (_ & _ & _ & _ & Hr & _). fold r in Hr.
  eapply Rle_trans; [exact H|]. unfold Psi, descent. assert ((1 + r) / 2 * errors s <= 1 * errors s) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Theorem nonconvex_T_rounds T x0 :
  descent gamma * sum T (fun t => E (bind (start x0) (rounds step t)) squared_gradient)
    + E (bind (start x0) (rounds step T)) Psi <= E (start x0) Psi.
Proof.
  rewrite (sum_ext T _ (fun t => E (start x0) (fun s => E (rounds step t s) squared_gradient)))
    by (intros; apply E_bind).
  rewrite E_bind, <- E_sum, <- E_scal, <- E_plus.
  apply E_le_always with (P := inv); [apply start_inv|]. intros s Hs.
  pose proof (Rounds.descent step inv Psi squared_gradient (descent gamma) 0 keeps) as Hd.
  specialize (Hd ltac:(intros u Hu; pose proof (nonconvex_one_step u Hu); lra) T s Hs). lra.
Qed.

(* Rounds, and bits per client, until the mean of E|grad f(x_t)|^2 over t < T is at most eps. *)
Theorem nonconvex_accuracy T x0 eps : 0 < eps -> (1 <= T)%nat ->
  2 * E (start x0) Psi / (gamma * eps) <= INR T ->
  / INR T * sum T (fun t => E (bind (start x0) (rounds step t)) squared_gradient) <= eps /\
  E (bind (start x0) (rounds step T)) sent = (INR T + 1) * b.
Proof.
  intros He HT H. split; [|apply bits]. destruct parameters as (_ & _ & _ & _ & _ & _ & Hg & _).
  apply (average (descent gamma) (E (start x0) Psi)); auto.
  - unfold descent. lra.
  - pose proof (nonconvex_T_rounds T x0). assert (0 <= E (bind (start x0) (rounds step T)) Psi); [|lra].
    apply E_nonneg. intros s. unfold Psi. pose proof (errors_pos s). pose proof (bounded (x s)). lra.
  - unfold descent. eapply Rle_trans; [|exact H]. right. field. lra.
Qed.

Section PolyakLojasiewicz.
Hypothesis mu_pos : 0 < mu.
Hypothesis PL : forall x, 2 * mu * (fmean n f x - fs) <= sq (gmean n grad x).

Theorem one_step s : inv s -> E (step s) Psi <= rate mu eta omega gamma lambda_ * Psi s.
Proof.
  intros Hs. eapply Rle_trans; [now apply any_step|]. pose proof (PL (x s)) as Hpl.
  fold (squared_gradient s) in Hpl. destruct parameters as (_ & _ & _ & _ & _ & _ & Hg & _).
  apply (Rmult_le_compat_l (gamma / 2)) in Hpl; [|lra].
  apply Rle_trans with ((1 - gamma * mu) * (fmean n f (x s) - fs) + (1 + r) / 2 * errors s); [lra|].
  unfold Psi, rate. rewrite Rmult_plus_distr_l. apply Rplus_le_compat; apply Rmult_le_compat_r.
  - pose proof (bounded (x s)). lra.
  - apply Rmax_l.
  - apply errors_pos.
  - apply Rmax_r.
Qed.

Lemma rate_bounds : 0 <= rate mu eta omega gamma lambda_ < 1.
Proof.
  destruct parameters as (_ & _ & _ & _ & Hr & _ & Hg & _). fold r in Hr.
  assert (Hr0 : 0 <= r) by now apply left_pos. unfold rate. fold r. split.
  - eapply Rle_trans; [|apply Rmax_r]. lra.
  - assert (0 < gamma * mu) by now apply Rmult_lt_0_compat. apply Rmax_lub_lt; lra.
Qed.

Theorem T_rounds T x0 :
  E (bind (start x0) (rounds step T)) Psi <= rate mu eta omega gamma lambda_ ^ T * E (start x0) Psi.
Proof.
  rewrite E_bind, <- E_scal. apply E_le_always with (P := inv); [apply start_inv|].
  intros s Hs. apply T_rounds with (inv := inv); auto using keeps, one_step. apply rate_bounds.
Qed.

Theorem accuracy T x0 eps : 0 < eps -> 0 < E (start x0) Psi ->
  ln (E (start x0) Psi / eps) / (1 - rate mu eta omega gamma lambda_) <= INR T ->
  E (bind (start x0) (rounds step T)) (fun s => fmean n f (x s) - fs) <= eps /\
  E (bind (start x0) (rounds step T)) sent = (INR T + 1) * b.
Proof.
  intros He HP HT. split; [|apply bits]. apply Rle_trans with (E (bind (start x0) (rounds step T)) Psi).
  - apply E_le. intros s. unfold Psi. pose proof (errors_pos s). lra.
  - eapply Rle_trans; [apply T_rounds|]. apply enough_rounds; auto using rate_bounds.
Qed.
End PolyakLojasiewicz.
End EFBV.
