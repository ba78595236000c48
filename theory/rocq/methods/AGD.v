(* Accelerated gradient descent with constant momentum (Nesterov, 2018, Section 2.2), f strongly convex. *)
From Certibit Require Export Functions Rounds.

Definition conditions (mu L_f gamma q : R) : Prop :=
  0 < gamma /\ gamma <= 1 / L_f /\ 0 < q /\ q <= sqrt (gamma * mu).
Definition rate (q : R) : R := 1 - q.

Section AGD.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (xs : V) (fs b : R).
Context (mu L_f gamma q : R).

Record state := State { x : V; y : V; sent : R }.
Definition start (x0 : V) : state := State x0 x0 0.
Definition step (s : state) : dist state :=
  let x1 := y s -v gamma *v vmean n (fun i => grad i (y s)) in
  ret (State x1 (x1 +v ((1 - q) / (1 + q)) *v (x1 -v x s)) (sent s + b)).
Definition z (s : state) : V := y s +v / q *v (y s -v x s).
Definition Psi (s : state) : R := fmean n f (x s) - fs + q ^ 2 / (2 * gamma) * sq (z s -v xs).

Hypothesis f_class : class mu L_f (fmean n f) (gmean n grad).
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L_f.
Hypothesis minimum : forall x, fmean n f xs <= fmean n f x.
Hypothesis fs_is : fs = fmean n f xs.
Hypothesis parameters : conditions mu L_f gamma q.

Lemma gamma_L : gamma * L_f <= 1.
Proof.
  destruct parameters as (_ & H & _). apply (Rmult_le_compat_r L_f) in H; [|lra].
  replace (1 / L_f * L_f) with 1 in H by (field; lra). exact H.
Qed.

Lemma q_bounds : 0 < q /\ q ^ 2 <= gamma * mu /\ q <= 1.
Proof.
  destruct parameters as (Hg & _ & Hq & Hs). pose proof gamma_L.
  assert (Hm : 0 < gamma * mu) by now apply Rmult_lt_0_compat.
  assert (H1 : q ^ 2 <= gamma * mu).
  { rewrite <- (pow2_sqrt (gamma * mu)) by lra. apply pow_incr. lra. }
  assert (gamma * mu <= gamma * L_f) by (apply Rmult_le_compat_l; lra).
  repeat split; auto. nra.
Qed.

Theorem one_step s : E (step s) Psi <= rate q * Psi s.
Proof.
  destruct parameters as (Hg & _). destruct q_bounds as (Hq & Hq2 & Hq1). pose proof gamma_L as HL.
  unfold step. rewrite E_ret. unfold Psi, rate. rewrite fs_is. cbn [x].
  change (vmean n (fun i => grad i (y s))) with (gmean n grad (y s)).
  set (F := fmean n f) in *. set (G := gmean n grad (y s)) in *.
  set (u := z s -v xs). set (v := y s -v xs). set (x1 := y s -v gamma *v G).
  set (a := (1 - q) *v u +v q *v v).
  rewrite (same_sq (z _ -v xs) (a -v (gamma / q) *v G)).
  2:{ intros w. unfold z, a, u, v, z, x1. cbn [x y]. autorewrite with dot. field. lra. }
  pose proof (upper _ _ _ _ f_class (y s) x1) as Hu. fold F G in Hu.
  replace (dot G (x1 -v y s)) with (- gamma * sq G) in Hu by (unfold x1; expand; ring).
  replace (sq (x1 -v y s)) with (gamma ^ 2 * sq G) in Hu by (unfold x1; expand; ring).
  pose proof (lower _ _ _ _ f_class (y s) (x s)) as Hx. pose proof (lower _ _ _ _ f_class (y s) xs) as Hs.
  fold F G in Hx, Hs.
  assert (0 <= mu / 2 * sq (x s -v y s)) by (apply Rmult_le_pos; [lra|apply sq_pos]).
  replace (dot G (x s -v y s)) with (- dot G (y s -v x s)) in Hx by (expand; ring).
  replace (dot G (xs -v y s)) with (- dot G v) in Hs by (unfold v; expand; ring).
  replace (sq (xs -v y s)) with (sq v) in Hs by (unfold v; expand; ring).
  assert (Ha : sq a <= (1 - q) * sq u + q * sq v).
  { assert (0 <= q * (1 - q) * sq (u -v v)) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply sq_pos]).
    replace (sq a) with ((1 - q) * sq u + q * sq v - q * (1 - q) * sq (u -v v)) by (unfold a; expand; ring). lra. }
  assert (Hd : q * dot G a = (1 - q) * dot G (y s -v x s) + q * dot G v).
  { unfold a, u, v, z. autorewrite with dot. field. lra. }
  replace (sq (a -v (gamma / q) *v G)) with (sq a - 2 * (gamma / q) * dot G a + (gamma / q) ^ 2 * sq G)
    by (expand; ring).
  replace (q ^ 2 / (2 * gamma) * (sq a - 2 * (gamma / q) * dot G a + (gamma / q) ^ 2 * sq G))
    with (q ^ 2 / (2 * gamma) * sq a - q * dot G a + gamma / 2 * sq G) by (field; lra).
  rewrite Hd. clear Hd.
  assert (Hw : 0 < q ^ 2 / (2 * gamma)) by (apply Rdiv_lt_0_compat; [apply pow_lt; auto|lra]).
  apply (Rmult_le_compat_l (q ^ 2 / (2 * gamma))) in Ha; [|lra].
  assert (HG : L_f / 2 * (gamma ^ 2 * sq G) <= gamma / 2 * sq G).
  { replace (L_f / 2 * (gamma ^ 2 * sq G)) with (gamma * L_f * (gamma / 2 * sq G)) by field.
    rewrite <- (Rmult_1_l (gamma / 2 * sq G)) at 2. apply Rmult_le_compat_r; [|auto].
    apply Rmult_le_pos; [lra|apply sq_pos]. }
  assert (Hv : q ^ 2 / (2 * gamma) * (q * sq v) <= q * (mu / 2 * sq v)).
  { replace (q ^ 2 / (2 * gamma) * (q * sq v)) with (q ^ 2 * (q * sq v / (2 * gamma))) by (field; lra).
    replace (q * (mu / 2 * sq v)) with (gamma * mu * (q * sq v / (2 * gamma))) by (field; lra).
    apply Rmult_le_compat_r; [|auto]. apply Rmult_le_pos; [apply Rmult_le_pos; [lra|apply sq_pos]|].
    left. apply Rinv_0_lt_compat. lra. }
  assert (Hx' : (1 - q) * (F (y s) - dot G (y s -v x s)) <= (1 - q) * F (x s)) by (apply Rmult_le_compat_l; lra).
  assert (Hs' : q * (F (y s) - dot G v + mu / 2 * sq v) <= q * F xs) by (apply Rmult_le_compat_l; lra).
  clearbody a u v. lra.
Qed.

Lemma always_all s : True -> always (step s) (fun _ => True).
Proof. intros; apply always_true. Qed.

Theorem T_rounds T x0 : E (rounds step T (start x0)) Psi <= rate q ^ T * Psi (start x0).
Proof.
  destruct q_bounds as (Hq & _ & Hq1).
  apply Rounds.T_rounds with (inv := fun _ => True); auto using one_step, always_all. unfold rate. lra.
Qed.

Theorem bits T x0 : E (rounds step T (start x0)) sent = INR T * b.
Proof.
  induction T; [simpl; rewrite E_ret; simpl; ring|]. rewrite S_INR. simpl. rewrite E_bind.
  rewrite (E_ext _ _ (fun s => sent s + b)) by (intros; unfold step; rewrite E_ret; reflexivity).
  rewrite E_plus, E_const, IHT. ring.
Qed.

Theorem accuracy T x0 eps : 0 < eps -> 0 < Psi (start x0) ->
  ln (Psi (start x0) / eps) / q <= INR T ->
  E (rounds step T (start x0)) (fun s => fmean n f (x s) - fs) <= eps /\
  E (rounds step T (start x0)) sent = INR T * b.
Proof.
  intros He HP HT. split; [|apply bits]. destruct q_bounds as (Hq & _ & Hq1). destruct parameters as (Hg & _).
  apply Rle_trans with (E (rounds step T (start x0)) Psi).
  - apply E_le. intros s. unfold Psi. assert (0 <= q ^ 2 / (2 * gamma) * sq (z s -v xs)); [|lra].
    apply Rmult_le_pos; [|apply sq_pos]. apply Rmult_le_pos; [apply pow2_ge_0|].
    left. apply Rinv_0_lt_compat. lra.
  - eapply Rle_trans; [apply T_rounds|]. unfold rate. apply enough_rounds; auto; [lra|].
    now replace (1 - (1 - q)) with q by ring.
Qed.
End AGD.
