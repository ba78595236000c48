(* L-SVRG, arXiv:1901.08689, for n clients: f strongly convex, samples smooth in expectation. *)
From Certibit Require Export Functions Rounds Samples.

Definition conditions (n : nat) (L_f A gamma p : R) : Prop :=
  0 < p /\ p <= 1 /\ 0 < gamma /\ gamma <= 1 / (L_f + 6 * A / INR n).
Definition rate (mu gamma p : R) : R := Rmax (1 - gamma * mu) (1 - p / 2).

Section LSVRG.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (xs : V) (fs b : R).
Context (D : nat -> dist (V -> V)) (mu L L_f A gamma p : R) (coin_p : 0 <= p <= 1).

Record state := State { x : V; w : V; gradient : V; sent : R }.
Definition start (x0 : V) : state := State x0 x0 (vmean n (fun i => grad i x0)) (0 + b).
Definition step (G : dist (nat -> V -> V)) (s : state) : dist state :=
  let x1 xi := x s -v gamma *v (vmean n (fun i => xi i (x s) -v xi i (w s)) +v gradient s) in
  bind (coin p coin_p) (fun anew => if anew
    then bind G (fun xi => ret (State (x1 xi) (x s) (vmean n (fun i => grad i (x s))) (sent s + b + b)))
    else bind G (fun xi => ret (State (x1 xi) (w s) (gradient s) (sent s + b)))).

Definition weight : R := Rmax (8 * (A / INR n) * gamma ^ 2) (2 * gamma * (1 - gamma * (L + 2 * (A / INR n)))).
Definition Psi (s : state) : R := sq (x s -v xs) + weight / p * (fmean n f (w s) - fs).
Definition inv (s : state) : Prop := gradient s = gmean n grad (w s).
Notation run := (rounds (step (samples n D))).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : class mu L_f (fmean n f) (gmean n grad).
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L_f.
Hypothesis L_f_L : L_f <= L.
Hypothesis minimum : forall x, fmean n f xs <= fmean n f x.
Hypothesis fs_is : fs = fmean n f xs.
Hypothesis fair : unbiased_samples n grad D.
Hypothesis A_nonneg : 0 <= A.
Hypothesis smooth : forall x y, mean_difference n grad D x y <=
  2 * A * (fmean n f x - fmean n f y - dot (gmean n grad y) (x -v y)).
Hypothesis parameters : conditions n L_f A gamma p.

Lemma keeps s : inv s -> always (step (samples n D) s) inv.
Proof.
  intros Hs. eapply always_bind; [apply always_true|]. intros [|] _;
    (eapply always_bind; [apply always_true|]); intros xi _; apply always_ret; [reflexivity|exact Hs].
Qed.

Lemma solution z : dot (gmean n grad xs) z = 0.
Proof. apply (at_minimum f_class xs); auto; lra. Qed.

(* E|x - gamma g - x*|^2 of the estimate g. *)
Lemma estimate s : inv s ->
  E (samples n D) (fun xi => sq (x s -v gamma *v (vmean n (fun i => xi i (x s) -v xi i (w s)) +v gradient s) -v xs)) =
  sq (x s -v gamma *v gmean n grad (x s) -v xs)
    + gamma ^ 2 * (/ INR n * mean_difference n grad D (x s) (w s)).
Proof.
  intros Hs. rewrite Hs, <- (difference_variance n grad D fair).
  rewrite (bias_variance _ _ (x s -v gamma *v gmean n grad (x s))).
  - f_equal. rewrite <- E_scal. apply E_ext. intros xi.
    set (d := vmean n (fun i => xi i (x s) -v xi i (w s))).
    set (c := vmean n (fun i => grad i (x s) -v grad i (w s))).
    assert (Hc : same c (gmean n grad (x s) -v gmean n grad (w s)))
      by (intros z; rewrite dot_sub_l; apply dot_vmean_sub).
    rewrite (same_sq_sub_r _ _ d Hc). expand. ring.
  - intros z.
    rewrite (E_ext _ _ (fun xi => dot (x s) z - gamma * (dot (sampled n xi (x s)) z - dot (sampled n xi (w s)) z
      + dot (gmean n grad (w s)) z))).
    + rewrite E_minus, E_const, E_scal, E_plus, E_minus, E_const, !(sampled_mean n grad D fair).
      autorewrite with dot. ring.
    + intros xi. rewrite dot_sub_l, dot_scal_l, dot_add_l, dot_vmean_sub. reflexivity.
Qed.

Theorem one_step s : inv s -> E (step (samples n D) s) Psi <= rate mu gamma p * Psi s.
Proof.
  intros Hs. destruct parameters as (Hp & Hp1 & Hg & Hg1). pose proof (INR_pos n n_pos) as Hn.
  assert (HA : 0 <= A / INR n) by (apply Rmult_le_pos; [auto|left; now apply Rinv_0_lt_compat]).
  pose proof (estimate s Hs) as He. pose proof solution as Hz.
  unfold step. rewrite E_bind, E_coin, !E_bind.
  rewrite (E_ext (samples n D) (fun xi => E (ret (State _ (x s) _ _)) Psi) (fun xi =>
    sq (x s -v gamma *v (vmean n (fun i => xi i (x s) -v xi i (w s)) +v gradient s) -v xs)
      + weight / p * (fmean n f (x s) - fs))) by (intros; rewrite E_ret; reflexivity).
  rewrite (E_ext (samples n D) (fun xi => E (ret (State _ (w s) _ _)) Psi) (fun xi =>
    sq (x s -v gamma *v (vmean n (fun i => xi i (x s) -v xi i (w s)) +v gradient s) -v xs)
      + weight / p * (fmean n f (w s) - fs))) by (intros; rewrite E_ret; reflexivity).
  rewrite !E_plus, He, !E_const. clear He. rewrite fs_is.
  pose proof (difference_by n grad D n_pos (x s) (w s) xs) as Hd.
  pose proof (smooth (x s) xs) as Hx. pose proof (smooth (w s) xs) as Hw. rewrite Hz in Hx, Hw.
  pose proof (weaken_class mu 0 L_f _ _ ltac:(lra) f_class) as Hc.
  pose proof (convex_gap L_f _ _ xs (x s) ltac:(lra) Hc) as Hb.
  pose proof (lower _ _ _ _ f_class (x s) xs) as Hl.
  unfold Psi. rewrite fs_is.
  set (G := gmean n grad (x s)) in *. set (P := fmean n f (x s) - fmean n f xs) in *.
  set (W := fmean n f (w s) - fmean n f xs) in *.
  rewrite Hz in Hb. replace (sq (gmean n grad xs -v G)) with (sq G) in Hb.
  2:{ rewrite (same_sq (gmean n grad xs -v G) ((-1) *v G)); [expand; ring|].
      intros z. autorewrite with dot. rewrite Hz. ring. }
  replace (dot G (xs -v x s)) with (- dot G (x s -v xs)) in Hl by (expand; ring).
  replace (sq (xs -v x s)) with (sq (x s -v xs)) in Hl by (expand; ring).
  replace (sq (x s -v gamma *v G -v xs)) with (sq (x s -v xs) - 2 * gamma * dot G (x s -v xs) + gamma ^ 2 * sq G)
    by (expand; ring).
  assert (HP : 0 <= P) by (unfold P; pose proof (minimum (x s)); lra).
  assert (HW : 0 <= W) by (unfold W; pose proof (minimum (w s)); lra).
  assert (HG : sq G <= 2 * L_f * P).
  { apply (Rmult_le_compat_l (2 * L_f)) in Hb; [|lra].
    replace (2 * L_f * (fmean n f xs - fmean n f (x s) + / (2 * L_f) * sq G)) with (sq G - 2 * L_f * P) in Hb
      by (unfold P; field; lra). lra. }
  set (a := A / INR n) in *.
  assert (HV : / INR n * mean_difference n grad D (x s) (w s) <= 4 * a * (P + W)).
  { replace (4 * a * (P + W)) with (/ INR n * (4 * A * (P + W))) by (unfold a, Rdiv; ring).
    apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. lra. }
  apply (Rmult_le_compat_l (gamma ^ 2)) in HG; [|apply pow2_ge_0].
  apply (Rmult_le_compat_l (gamma ^ 2)) in HV; [|apply pow2_ge_0].
  assert (Hdot : P + mu / 2 * sq (x s -v xs) <= dot G (x s -v xs)) by (unfold P; lra).
  apply (Rmult_le_compat_l (2 * gamma)) in Hdot; [|lra].
  assert (Hstep : gamma * (L_f + 6 * a) <= 1).
  { replace (6 * A / INR n) with (6 * a) in Hg1 by (unfold a, Rdiv; ring).
    set (k := L_f + 6 * a) in *. assert (Hk : 0 < k) by (unfold k; lra).
    apply (Rmult_le_compat_r k) in Hg1; [|lra].
    replace (1 / k * k) with 1 in Hg1 by (field; lra). exact Hg1. }
  assert (Hlow : 8 * a * gamma ^ 2 <= weight) by apply Rmax_l.
  assert (Hcost : 2 * gamma * (gamma * (L_f + 2 * a) - 1) + weight <= 0).
  { unfold weight. fold a.
    assert (0 <= gamma ^ 2 * (L - L_f)) by (apply Rmult_le_pos; [apply pow2_ge_0|lra]).
    assert (gamma * (gamma * (L_f + 6 * a)) <= gamma * 1) by (apply Rmult_le_compat_l; lra).
    apply Rmax_case; lra. }
  apply (Rmult_le_compat_r P) in Hcost; [|auto]. apply (Rmult_le_compat_r W) in Hlow; [|auto].
  assert (Hwp : 0 <= weight / p * W).
  { apply Rmult_le_pos; [apply Rmult_le_pos|auto]; [|left; now apply Rinv_0_lt_compat].
    eapply Rle_trans; [|apply Rmax_l]. apply Rmult_le_pos; [fold a; lra|apply pow2_ge_0]. }
  apply Rle_trans with ((1 - gamma * mu) * sq (x s -v xs) + (1 - p / 2) * (weight / p * W)).
  - replace ((1 - p / 2) * (weight / p * W)) with (weight / p * W - weight / 2 * W) by (field; lra).
    replace (p * (_ + weight / p * P)) with (p * (sq (x s -v xs) - 2 * gamma * dot G (x s -v xs) + gamma ^ 2 * sq G +
       gamma ^ 2 * (/ INR n * mean_difference n grad D (x s) (w s))) + weight * P) by (field; lra).
    replace ((1 - p) * (_ + weight / p * W)) with ((1 - p) * (sq (x s -v xs) - 2 * gamma * dot G (x s -v xs) + gamma ^ 2 * sq G +
       gamma ^ 2 * (/ INR n * mean_difference n grad D (x s) (w s))) + weight / p * W - weight * W) by (field; lra).
    lra.
  - rewrite Rmult_plus_distr_l. unfold rate. apply Rplus_le_compat; apply Rmult_le_compat_r; auto using sq_pos.
    + apply Rmax_l.
    + apply Rmax_r.
Qed.

Lemma rate_bounds : 0 <= rate mu gamma p < 1.
Proof.
  destruct parameters as (Hp & Hp1 & Hg & Hg1). unfold rate. split.
  - eapply Rle_trans; [|apply Rmax_r]. lra.
  - assert (0 < gamma * mu) by now apply Rmult_lt_0_compat. apply Rmax_lub_lt; lra.
Qed.

Lemma start_inv x0 : inv (start x0).
Proof. reflexivity. Qed.

Theorem T_rounds T x0 : E (run T (start x0)) Psi <= rate mu gamma p ^ T * Psi (start x0).
Proof.
  apply Rounds.T_rounds with (inv := inv); auto using keeps, one_step, start_inv. apply rate_bounds.
Qed.

Theorem bits T x0 : E (run T (start x0)) sent = b + INR T * ((1 + p) * b).
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + (1 + p) * b)); [rewrite E_plus, E_const, IHT; ring|].
  intros s. unfold step. rewrite E_bind, E_coin, !E_bind.
  rewrite (E_ext (samples n D) _ (fun _ => sent s + b + b)) by (intros; rewrite E_ret; reflexivity).
  rewrite (E_ext (samples n D) (fun xi => E (ret (State _ (w s) _ _)) sent) (fun _ => sent s + b))
    by (intros; rewrite E_ret; reflexivity).
  rewrite !E_const. ring.
Qed.

Theorem accuracy T x0 eps : 0 < eps -> 0 < Psi (start x0) ->
  ln (Psi (start x0) / eps) / (1 - rate mu gamma p) <= INR T ->
  E (run T (start x0)) (fun s => sq (x s -v xs)) <= eps /\
  E (run T (start x0)) sent = b + INR T * ((1 + p) * b).
Proof.
  intros He HP HT. split; [|apply bits]. apply Rle_trans with (E (run T (start x0)) Psi).
  - apply E_le. intros s. unfold Psi. assert (0 <= weight / p * (fmean n f (w s) - fs)); [|lra].
    destruct parameters as (Hp & _). rewrite fs_is. pose proof (minimum (w s)).
    apply Rmult_le_pos; [apply Rmult_le_pos|lra]; [|left; now apply Rinv_0_lt_compat].
    eapply Rle_trans; [|apply Rmax_l]. apply Rmult_le_pos; [|apply pow2_ge_0].
    apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [auto|left; now apply Rinv_0_lt_compat, INR_pos].
  - eapply Rle_trans; [apply T_rounds|]. apply enough_rounds; auto using rate_bounds.
Qed.
End LSVRG.
