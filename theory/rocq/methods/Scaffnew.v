(* Scaffnew (ProxSkip), arXiv:2202.09357, with a rate that takes the best of both regimes of the step. *)
From Certibit Require Export Functions Rounds.

Definition conditions (L gamma p : R) : Prop := 0 < gamma /\ gamma < 2 / L /\ 0 < p /\ p <= 1.
Definition rate (mu L gamma p : R) : R :=
  Rmax (Rmax ((1 - gamma * mu) ^ 2) ((1 - gamma * L) ^ 2)) (1 - p ^ 2).

Section Scaffnew.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (xs : V) (b : R).
Context (mu L gamma p : R) (coin_p : 0 <= p <= 1).

Record state := State { x : nat -> V; h : nat -> V; sent : R }.

Definition local_step (s : state) : state :=
  State (fun i => x s i -v gamma *v (grad i (x s i) -v h s i)) (fun i => h s i) (sent s).
Definition communicate (s : state) : dist state := ret (State
  (fun _ => vmean n (x s)) (fun i => h s i +v p / gamma *v (vmean n (x s) -v x s i)) (sent s + b)).
Definition step (s : state) : dist state :=
  bind (coin p coin_p) (fun c => if c then communicate (local_step s) else ret (local_step s)).

Definition start (x0 : V) : state := State (fun _ => x0) (fun _ => 0 *v x0) 0.
Definition inv (s : state) : Prop := forall z, sum n (fun i => dot (h s i) z) = 0.
Definition Psi (s : state) : R :=
  sum n (fun i => sq (x s i -v xs)) + (gamma / p) ^ 2 * sum n (fun i => sq (h s i -v grad i xs)).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : forall i, (i < n)%nat -> class mu L (f i) (grad i).
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L.
Hypothesis minimum : forall x, fmean n f xs <= fmean n f x.
Hypothesis parameters : conditions L gamma p.

Lemma solution z : sum n (fun i => dot (grad i xs) z) = 0.
Proof.
  pose proof (INR_pos n n_pos) as Hn. pose proof (Rinv_0_lt_compat _ Hn).
  assert (Hz := at_minimum (mean_class n mu L f grad n_pos f_class) xs ltac:(lra) minimum z).
  unfold gmean in Hz. rewrite dot_vmean_l in Hz.
  apply (Rmult_eq_reg_l (/ INR n)); lra.
Qed.

(* All local models, and all control variates, as one vector. *)
Definition stack (x : nat -> V) : power n V := x.
Definition one (z : V) : power n V := stack (fun _ => z).
Definition us : power n V := stack (fun i => grad i xs).

Lemma dot_stack_one (y : power n V) z : dot y (one z) = INR n * dot (vmean n y) z.
Proof.
  pose proof (INR_pos n n_pos). rewrite dot_vmean_l, <- Rmult_assoc, Rinv_r by lra. rewrite Rmult_1_l.
  reflexivity.
Qed.
Lemma dot_one_one y z : dot (one y) (one z) = INR n * dot y z.
Proof. apply (sum_const n (dot y z)). Qed.

Theorem one_step s : inv s -> E (step s) Psi <= rate mu L gamma p * Psi s.
Proof.
  intros Hs. destruct parameters as (Hg & Hg1 & Hp & Hp1). pose proof (INR_pos n n_pos) as Hn.
  set (X := stack (x s)). set (H := stack (h s)). set (X1 := stack (x (local_step s))).
  set (e := X1 -v one xs). set (eh := H -v us).
  assert (Hc : forall z, dot eh (one z) = 0).
  { intros z. unfold eh. rewrite dot_sub_l.
    change (sum n (fun i => dot (h s i) z) - sum n (fun i => dot (grad i xs) z) = 0).
    rewrite (Hs z), solution. ring. }
  assert (Hl : sq (e -v gamma *v eh) <=
    Rmax ((1 - gamma * mu) ^ 2) ((1 - gamma * L) ^ 2) * sq (X -v one xs)).
  { set (gx := stack (fun i => grad i (x s i))).
    assert (Hstep : sq (X -v gamma *v gx -v (one xs -v gamma *v us)) <=
      Rmax ((1 - gamma * mu) ^ 2) ((1 - gamma * L) ^ 2) * sq (X -v one xs))
      by (apply (gradient_step (power_class n mu L f grad f_class) gamma X (one xs) mu_L); lra).
    eapply Rle_trans; [|exact Hstep]. right. apply same_sq. intros z. unfold e, eh.
    replace X1 with (X -v gamma *v (gx -v H)) by reflexivity. autorewrite with dot. ring. }
  unfold step. rewrite E_bind, E_coin. unfold communicate. rewrite !E_ret.
  set (xm := vmean n (x (local_step s))). set (ebar := xm -v xs).
  change (p * (sq (one xm -v one xs) + (gamma / p) ^ 2 * sq (H +v p / gamma *v (one xm -v X1) -v us))
    + (1 - p) * (sq e + (gamma / p) ^ 2 * sq eh) <=
    rate mu L gamma p * (sq (X -v one xs) + (gamma / p) ^ 2 * sq eh)).
  assert (Hx : sq (one xm -v one xs) = INR n * sq ebar).
  { unfold ebar, sq. autorewrite with dot. rewrite !dot_one_one. ring. }
  assert (He : forall z, dot e (one z) = INR n * dot ebar z).
  { intros z. unfold e, ebar. rewrite dot_sub_l, dot_stack_one, dot_one_one, dot_sub_l.
    unfold xm. change (vmean n X1) with (vmean n (x (local_step s))). ring. }
  assert (Hh : sq (H +v p / gamma *v (one xm -v X1) -v us) =
    sq eh - 2 * (p / gamma) * dot eh e + (p / gamma) ^ 2 * (sq e - INR n * sq ebar)).
  { rewrite (same_sq _ (eh +v p / gamma *v (one ebar -v e))).
    - replace (sq (eh +v p / gamma *v (one ebar -v e))) with (sq eh + 2 * (p / gamma) * (dot eh (one ebar)
        - dot eh e) + (p / gamma) ^ 2 * (dot (one ebar) (one ebar) - 2 * dot e (one ebar) + sq e))
        by (expand; ring).
      rewrite Hc, dot_one_one, He. unfold sq. ring.
    - intros z. unfold eh, e, ebar. rewrite (dot_sym _ z), (dot_sym _ z).
      assert (Hone : dot z (one (xm -v xs)) = dot z (one xm) - dot z (one xs))
        by (rewrite <- dot_sub_r; reflexivity).
      autorewrite with dot. rewrite Hone. ring. }
  rewrite Hx, Hh.
  replace (sq (e -v gamma *v eh)) with (sq e - 2 * gamma * dot eh e + gamma ^ 2 * sq eh) in Hl
    by (expand; ring).
  set (w := (gamma / p) ^ 2) in *.
  assert (Hw : 0 <= w) by apply pow2_ge_0.
  assert (Hwp : gamma ^ 2 = w * p ^ 2) by (unfold w; field; lra).
  apply Rle_trans with (Rmax ((1 - gamma * mu) ^ 2) ((1 - gamma * L) ^ 2) * sq (X -v one xs)
    + (1 - p ^ 2) * (w * sq eh)).
  - rewrite Hwp in Hl. eapply Rle_trans; [|apply Rplus_le_compat_r; exact Hl].
    right. unfold w. field. lra.
  - rewrite Rmult_plus_distr_l. unfold rate. apply Rplus_le_compat; apply Rmult_le_compat_r.
    + apply sq_pos.
    + apply Rmax_l.
    + apply Rmult_le_pos; [auto|apply sq_pos].
    + apply Rmax_r.
Qed.

Lemma keeps s : inv s -> always (step s) inv.
Proof.
  intros Hs. apply always_bind with (P := fun _ => True); [apply always_true|].
  intros [|] _; apply always_ret; [|exact Hs]. intros z. cbn [h].
  set (y := x (local_step s)). pose proof (INR_pos n n_pos).
  rewrite (sum_ext n _ (fun i => dot (h s i) z + p / gamma * (dot (vmean n y) z - dot (y i) z)))
    by (intros; cbn [local_step h]; expand; ring).
  rewrite sum_plus, sum_scal, sum_minus, sum_const, dot_vmean_l, (Hs z).
  rewrite <- (Rmult_assoc (INR n)), Rinv_r by lra. ring.
Qed.

Theorem T_rounds T x0 :
  E (rounds step T (start x0)) Psi <= rate mu L gamma p ^ T * Psi (start x0).
Proof.
  apply Rounds.T_rounds with (inv := inv); auto using keeps, one_step.
  - unfold rate. eapply Rle_trans; [|apply Rmax_l]. eapply Rle_trans; [|apply Rmax_l]. apply pow2_ge_0.
  - intros z. apply sum_zero. intros; cbn; rewrite dot_scal_l; ring.
Qed.
End Scaffnew.

(* The original theorem, arXiv:2202.09357: gamma <= 1/L. *)
Definition original_conditions (L gamma p : R) : Prop :=
  0 < gamma /\ gamma <= 1 / L /\ 0 < p /\ p <= 1.
Definition original_rate (mu gamma p : R) : R := 1 - Rmin (gamma * mu) (p ^ 2).

Lemma original_is_slower mu L gamma p : 0 < mu -> mu <= L -> original_conditions L gamma p ->
  conditions L gamma p /\ 0 <= rate mu L gamma p <= original_rate mu gamma p.
Proof.
  intros Hmu HL (Hg & Hg1 & Hp & Hp1).
  assert (HgL : gamma * L <= 1).
  { apply (Rmult_le_compat_r L) in Hg1; [|lra]. replace (1 / L * L) with 1 in Hg1 by (field; lra). lra. }
  assert (H : 0 <= gamma * mu <= gamma * L)
    by (split; [apply Rmult_le_pos; lra|apply Rmult_le_compat_l; lra]).
  split; [repeat split; auto|split].
  - apply Rle_lt_trans with (1 / L); [auto|]. apply Rmult_lt_compat_r; [|lra].
    apply Rinv_0_lt_compat. lra.
  - unfold rate. do 2 (eapply Rle_trans; [|apply Rmax_l]). apply pow2_ge_0.
  - unfold rate, original_rate. pose proof (Rmin_l (gamma * mu) (p ^ 2)). pose proof (Rmin_r (gamma * mu) (p ^ 2)).
    repeat apply Rmax_lub; nra.
Qed.

Theorem original_T_rounds {V : space} n (f : nat -> V -> R) grad xs b mu L gamma p coin_p :
  (1 <= n)%nat -> (forall i, (i < n)%nat -> class mu L (f i) (grad i)) -> 0 < mu -> mu <= L ->
  (forall x, fmean n f xs <= fmean n f x) -> original_conditions L gamma p ->
  forall T x0, E (rounds (step n grad b gamma p coin_p) T (start x0)) (Psi n grad xs gamma p) <=
    original_rate mu gamma p ^ T * Psi n grad xs gamma p (start x0).
Proof.
  intros Hn Hf Hmu HL Hmin Hc T x0. destruct (original_is_slower mu L gamma p Hmu HL Hc) as (Hp & Hr).
  eapply Rle_trans; [now apply (T_rounds n f grad xs b mu L gamma p coin_p)|].
  apply Rmult_le_compat_r; [|now apply pow_incr].
  unfold Psi. apply Rplus_le_le_0_compat; [|apply Rmult_le_pos; [apply pow2_ge_0|]];
    apply sum_nonneg; intros; apply sq_pos.
Qed.
