(* EF21, arXiv:2106.05203, under the Polyak-Lojasiewicz condition. *)
From Certibit Require Export Functions Compressors Rounds.

Definition theta (alpha : R) : R := 1 - sqrt (1 - alpha).
Definition beta (alpha : R) : R := (1 - alpha) / theta alpha.
Definition conditions (mu L_f L_tilde alpha gamma : R) : Prop :=
  0 < alpha /\ 0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (2 * beta alpha / theta alpha)) /\
  gamma <= theta alpha / (2 * mu).
Definition rate (mu gamma : R) : R := 1 - gamma * mu.

(* The card writes L_tilde sqrt(2 (1 - alpha))/theta. *)
Lemma card_step_size mu L_f L_tilde alpha gamma : alpha <= 1 ->
  0 < alpha /\ 0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * sqrt (2 * (1 - alpha)) / (1 - sqrt (1 - alpha))) /\
  gamma <= (1 - sqrt (1 - alpha)) / (2 * mu) <-> conditions mu L_f L_tilde alpha gamma.
Proof.
  intros H1.
  assert (E : 0 < alpha -> sqrt (2 * beta alpha / theta alpha) = sqrt (2 * (1 - alpha)) / theta alpha).
  { intros Ha. assert (Hth : 0 < theta alpha).
    { pose proof (sqrt_lt_1 (1 - alpha) 1 ltac:(lra) ltac:(lra) ltac:(lra)) as Hq.
      rewrite sqrt_1 in Hq. unfold theta. lra. }
    replace (2 * beta alpha / theta alpha) with (2 * (1 - alpha) / (theta alpha ^ 2))
      by (unfold beta; field; lra).
    rewrite sqrt_div_alt by (apply pow_lt; auto). f_equal. apply sqrt_pow2; lra. }
  unfold conditions. split; intros (Ha & Hg & Hs & Hm); repeat split; auto;
    revert Hs; rewrite E by auto; unfold theta, Rdiv; rewrite Rmult_assoc; auto.
Qed.

Section EF21.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs : R).
Context (C : (nat -> V) -> dist (nat -> V)) (b : R).
Context (mu L_f : R) (L : nat -> R) (L_tilde alpha gamma : R).

Record state := State { x : V; g : nat -> V; g_mean : V; sent : R }.

Definition start (x0 : V) : dist state :=
  dmap (fun c => State x0 c (vmean n c) (0 + b)) (C (fun i => grad i x0)).

Definition step (s : state) : dist state :=
  let x1 := x s -v gamma *v g_mean s in
  dmap (fun c => State x1 (fun i => g s i +v c i) (g_mean s +v vmean n c) (sent s + b))
    (C (fun i => grad i x1 -v g s i)).

Definition inv (s : state) : Prop := same (g_mean s) (vmean n (g s)).
Definition Psi (s : state) : R :=
  fmean n f (x s) - fs +
  gamma / theta alpha * (/ INR n * sum n (fun i => sq (g s i -v grad i (x s)))).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : class (- L_f) L_f (fmean n f) (gmean n grad).
Hypothesis fi_class : forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i).
Hypothesis L_f_pos : 0 < L_f.
Hypothesis L_pos : forall i, (i < n)%nat -> 0 <= L i.
Hypothesis L_tilde_pos : 0 <= L_tilde.
Hypothesis L_tilde_square : L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2).
Hypothesis mu_pos : 0 < mu.
Hypothesis PL : forall x, 2 * mu * (fmean n f x - fs) <= sq (gmean n grad x).
Hypothesis compressors : forall x i, (i < n)%nat ->
  E (C x) (fun m => sq (m i -v x i)) <= (1 - alpha) * sq (x i).
Hypothesis alpha_1 : alpha <= 1.
Hypothesis parameters : conditions mu L_f L_tilde alpha gamma.

Let q : R := sqrt (1 - alpha).
Lemma q_square : q ^ 2 = 1 - alpha.
Proof. unfold q. simpl. rewrite Rmult_1_r. apply sqrt_sqrt. lra. Qed.
Lemma q_bounds : 0 <= q < 1.
Proof.
  destruct parameters as (? & _). split; [apply sqrt_pos|].
  pose proof q_square. assert (0 <= q) by apply sqrt_pos. nra.
Qed.

Lemma inverse_n : 0 < / INR n.
Proof. apply Rinv_0_lt_compat. now apply INR_pos. Qed.

Lemma keeps s : inv s -> always (step s) inv.
Proof.
  intros Hs. apply always_dmap. intros c z. cbn [g_mean g].
  rewrite dot_add_l, (Hs z), !dot_vmean_l, <- Rmult_plus_distr_l, <- sum_plus.
  f_equal. apply sum_ext. intros. symmetry. apply dot_add_l.
Qed.

Lemma start_inv x0 : always (start x0) inv.
Proof. apply always_dmap. intros c z. reflexivity. Qed.

Lemma lipschitz i y z : (i < n)%nat -> sq (grad i y -v grad i z) <= L i ^ 2 * sq (y -v z).
Proof.
  intros Hi. pose proof (L_pos i Hi).
  pose proof (product (fi_class i Hi) y z ltac:(lra)) as H1. lra.
Qed.

(* q^2 |a - c|^2 <= q |a|^2 + q^2/(1 - q) |c|^2. *)
Lemma split_error (a c : V) : q ^ 2 * sq (a -v c) <= q * sq a + q ^ 2 / (1 - q) * sq c.
Proof.
  pose proof q_bounds. pose proof (sq_pos ((1 - q) *v a +v q *v c)) as H1.
  assert (0 <= q / (1 - q)) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  apply (Rmult_le_compat_l (q / (1 - q))) in H1; [|auto]. rewrite Rmult_0_r in H1.
  apply Rle_trans with (q ^ 2 * sq (a -v c) + q / (1 - q) * sq ((1 - q) *v a +v q *v c)); [lra|].
  right. expand. field. lra.
Qed.

Lemma errors s i (x1 := x s -v gamma *v g_mean s) : (i < n)%nat ->
  E (C (fun i => grad i x1 -v g s i)) (fun c => sq (g s i +v c i -v grad i x1)) <=
  (1 - theta alpha) * sq (g s i -v grad i (x s)) + beta alpha * (L i ^ 2 * sq (gamma *v g_mean s)).
Proof.
  intros Hi. pose proof q_bounds.
  set (w := fun i => grad i x1 -v g s i).
  rewrite (E_ext _ _ (fun c => sq (c i -v w i))) by (intros; unfold w; expand; ring).
  eapply Rle_trans; [now apply compressors|]. rewrite <- q_square.
  replace (sq (w i)) with (sq (g s i -v grad i (x s) -v (grad i x1 -v grad i (x s))))
    by (unfold w; expand; ring).
  eapply Rle_trans; [apply split_error|].
  unfold beta, theta. fold q. rewrite <- q_square. replace (1 - (1 - q)) with q by ring.
  apply Rplus_le_compat_l. apply Rmult_le_compat_l.
  - apply Rmult_le_pos; [apply pow2_ge_0|left; apply Rinv_0_lt_compat; lra].
  - eapply Rle_trans; [apply lipschitz; auto|]. right. f_equal. unfold x1. expand. ring.
Qed.

Lemma rate_nonneg : 0 <= rate mu gamma.
Proof.
  destruct parameters as (_ & Hg & _ & Hg2). pose proof q_bounds. unfold rate.
  unfold theta in Hg2. fold q in Hg2.
  apply (Rmult_le_compat_r (2 * mu)) in Hg2; [|lra].
  unfold Rdiv in Hg2. rewrite Rmult_assoc, Rinv_l in Hg2 by lra. lra.
Qed.

Theorem one_step s : inv s -> E (step s) Psi <= rate mu gamma * Psi s.
Proof.
  intros Hs. destruct parameters as (Ha & Hg & Hg1 & Hg2). pose proof q_bounds as Hq.
  pose proof inverse_n as Hn. unfold step, Psi. set (x1 := x s -v gamma *v g_mean s).
  rewrite E_dmap. cbn [x g]. rewrite E_plus, E_const, !E_scal, E_sum.
  set (G := / INR n * sum n (fun i => sq (g s i -v grad i (x s)))).
  set (r := sq (g_mean s)). set (F := fmean n f). set (gx := gmean n grad (x s)).
  assert (Hr : 0 <= r) by apply sq_pos.
  assert (HG : 0 <= G) by (apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply sq_pos]).
  assert (Hth : 0 < theta alpha) by (unfold theta; fold q; lra).
  assert (Hbe : 0 <= beta alpha)
    by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  (* The descent of f. *)
  assert (Hf : F x1 <= F (x s) - gamma / 2 * sq gx - (gamma / 2 - L_f / 2 * gamma ^ 2) * r + gamma / 2 * G).
  { pose proof (upper _ _ _ _ f_class (x s) x1) as Hup. fold F gx in Hup.
    replace (dot gx (x1 -v x s)) with (- gamma * dot gx (g_mean s)) in Hup by (unfold x1; expand; ring).
    replace (sq (x1 -v x s)) with (gamma ^ 2 * r) in Hup by (unfold x1, r; expand; ring).
    assert (Hj : sq (g_mean s -v gx) <= G).
    { rewrite (same_sq _ (vmean n (fun i => g s i -v grad i (x s)))).
      - now apply jensen_mean.
      - intros z. rewrite dot_sub_l, (Hs z), dot_vmean_sub. reflexivity. }
    replace (sq (g_mean s -v gx)) with (r - 2 * dot gx (g_mean s) + sq gx) in Hj
      by (unfold r; expand; ring).
    nra. }
  (* The contraction of the errors. *)
  assert (He : / INR n * sum n (fun i =>
      E (C (fun i => grad i x1 -v g s i)) (fun c => sq (g s i +v c i -v grad i x1))) <=
    (1 - theta alpha) * G + beta alpha * L_tilde ^ 2 * (gamma ^ 2 * r)).
  { assert (Hi := sum_le n _ _ (fun i Hi => errors s i Hi)). fold x1 in Hi.
    rewrite sum_plus, !sum_scal, sum_scal_r in Hi.
    apply (Rmult_le_compat_l (/ INR n)) in Hi; [|lra]. rewrite L_tilde_square.
    replace (sq (gamma *v g_mean s)) with (gamma ^ 2 * r) in Hi by (unfold r; expand; ring).
    unfold G. lra. }
  pose proof (PL (x s)) as Hpl. fold F gx in Hpl.
  (* The coefficient of r. *)
  set (c := L_tilde * sqrt (2 * beta alpha / theta alpha)) in *.
  assert (Hc : 0 <= c) by (apply Rmult_le_pos; [auto|apply sqrt_pos]).
  assert (Hc2 : c ^ 2 = L_tilde ^ 2 * (2 * beta alpha / theta alpha)).
  { unfold c. rewrite Rpow_mult_distr. f_equal. simpl. rewrite Rmult_1_r. apply sqrt_sqrt.
    apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]. }
  assert (Hgc : gamma * (L_f + c) <= 1).
  { apply (Rmult_le_compat_r (L_f + c)) in Hg1; [|lra]. unfold Rdiv in Hg1.
    rewrite Rmult_assoc, Rinv_l in Hg1 by lra. lra. }
  assert (Hcoef : 0 <= 1 - gamma * L_f - gamma ^ 2 * c ^ 2).
  { assert (0 <= gamma * c) by (apply Rmult_le_pos; lra).
    assert (0 <= gamma * L_f) by (apply Rmult_le_pos; lra).
    replace (gamma ^ 2 * c ^ 2) with ((gamma * c) * (gamma * c)) by ring. nra. }
  assert (Hg2' : gamma * mu <= theta alpha / 2).
  { apply (Rmult_le_compat_r mu) in Hg2; [|lra].
    replace (theta alpha / (2 * mu) * mu) with (theta alpha / 2) in Hg2 by (field; lra). lra. }
  (* The sum of these inequalities. *)
  assert (Hgt : 0 < gamma / theta alpha) by now apply Rdiv_lt_0_compat.
  apply (Rmult_le_compat_l (gamma / theta alpha)) in He; [|lra].
  apply (Rmult_le_compat_r (gamma / 2 * r)) in Hcoef; [|apply Rmult_le_pos; lra].
  apply (Rmult_le_compat_l (gamma / 2)) in Hpl; [|lra].
  assert (HGt : gamma / theta alpha * (1 - theta alpha) * G + gamma / 2 * G <=
    (1 - gamma * mu) * (gamma / theta alpha * G)).
  { replace (gamma / theta alpha * (1 - theta alpha) * G + gamma / 2 * G)
      with (gamma / theta alpha * G * (1 - theta alpha / 2)) by (field; lra).
    rewrite (Rmult_comm (1 - gamma * mu)). apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|lra]. }
  rewrite Hc2 in Hcoef.
  replace ((1 - gamma * L_f - gamma ^ 2 * (L_tilde ^ 2 * (2 * beta alpha / theta alpha))) * (gamma / 2 * r))
    with ((gamma / 2 - L_f / 2 * gamma ^ 2) * r
      - gamma / theta alpha * (beta alpha * L_tilde ^ 2 * (gamma ^ 2 * r))) in Hcoef by (field; lra).
  unfold rate. clearbody r G c. fold F. lra.
Qed.

Theorem T_rounds T x0 :
  E (bind (start x0) (rounds step T)) Psi <= rate mu gamma ^ T * E (start x0) Psi.
Proof.
  rewrite E_bind, <- E_scal. apply E_le_always with (P := inv); [apply start_inv|].
  intros s Hs. apply T_rounds with (inv := inv); auto using keeps, rate_nonneg, one_step.
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

Theorem accuracy T x0 eps : 0 < eps -> 0 < E (start x0) Psi ->
  ln (E (start x0) Psi / eps) / (gamma * mu) <= INR T ->
  E (bind (start x0) (rounds step T)) (fun s => fmean n f (x s) - fs) <= eps /\
  E (bind (start x0) (rounds step T)) sent = (INR T + 1) * b.
Proof.
  intros He HP HT. split; [|apply bits].
  destruct parameters as (Ha & Hg & Hg1 & Hg2). pose proof inverse_n. pose proof q_bounds.
  apply Rle_trans with (E (bind (start x0) (rounds step T)) Psi).
  - apply E_le. intros s. unfold Psi.
    assert (0 < gamma / theta alpha) by (apply Rdiv_lt_0_compat; unfold theta; fold q; lra).
    assert (0 <= / INR n * sum n (fun i => sq (g s i -v grad i (x s))))
      by (apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply sq_pos]).
    nra.
  - eapply Rle_trans; [apply T_rounds|]. apply enough_rounds; auto.
    + split; [apply rate_nonneg|]. unfold rate. assert (0 < gamma * mu) by now apply Rmult_lt_0_compat. lra.
    + unfold rate. now replace (1 - (1 - gamma * mu)) with (gamma * mu) by ring.
Qed.
End EF21.
