(* EControl, arXiv:2311.05645, with a small share of the error: Polyak-Lojasiewicz condition, and nonconvex f_i. *)
From Certibit Require Export Functions Compressors Rounds Nonconvex.

(* How the errors shrink, for s = sqrt(1 - alpha); with the share 0 the method is EF21. *)
Definition v (s share : R) : R := if Rlt_dec 0 share then (1 - s) / 2 else 0.
Definition q_p (s share : R) : R := s * ((1 + share) ^ 3 + v s share).
Definition q_e (s share : R) : R :=
  if Rlt_dec 0 share then 1 - share + (1 + share) * share ^ 2 / v s share else 0.
Definition a (s share : R) : R := (1 + share) * Rmax (1 / (1 - q_p s share))
  (if Rlt_dec 0 share then 1 / (v s share * (1 - q_e s share)) else 0).
Definition noise (s share : R) : R := sqrt (2 * a s share * s * q_p s share / (1 - s)).

Definition conditions (mu L_f L_tilde alpha gamma share : R) : Prop :=
  let s := sqrt (1 - alpha) in
  0 < alpha /\ 0 <= share /\ q_p s share < 1 /\ q_e s share < 1 /\ 0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * noise s share) /\ gamma <= (1 - Rmax (q_p s share) (q_e s share)) / (2 * mu).
Definition rate (mu gamma : R) : R := 1 - gamma * mu.
Definition nonconvex_conditions (L_f L_tilde alpha gamma share : R) : Prop :=
  let s := sqrt (1 - alpha) in
  0 < alpha /\ 0 <= share /\ q_p s share < 1 /\ q_e s share < 1 /\ 0 < gamma /\
  gamma <= 1 / (L_f + L_tilde * noise s share / sqrt 2).
Definition descent (gamma : R) : R := gamma / 2.

Section EControl.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs : R).
Context (C : (nat -> V) -> dist (nat -> V)) (b : R).
Context (mu L_f : R) (L : nat -> R) (L_tilde alpha gamma share : R).
Let s : R := sqrt (1 - alpha).

Record state := State { x : V; h : nat -> V; h_mean : V; e : nat -> V; sent : R }.

Definition start (x0 : V) : dist state :=
  dmap (fun c => State x0 c (vmean n c) (fun i => grad i x0 -v c i) (0 + b)) (C (fun i => grad i x0)).
Definition step (st : state) : dist state :=
  let x1 := x st -v gamma *v h_mean st in
  dmap (fun c => State x1 (fun i => h st i +v c i) (h_mean st +v vmean n c)
      (fun i => e st i +v (grad i x1 -v h st i) -v c i) (sent st + b))
    (C (fun i => share *v e st i +v (grad i x1 -v h st i))).

Definition inv (st : state) : Prop := same (h_mean st) (vmean n (h st)).
Definition shifted (st : state) (i : nat) : V := share *v e st i -v (h st i -v grad i (x st)).
Definition P (st : state) : R := / INR n * sum n (fun i => sq (shifted st i)).
Definition Q (st : state) : R := / INR n * sum n (fun i => sq (e st i)).
Definition errors (st : state) : R := P st + v s share * share * Q st.
Definition potential (part : R) (st : state) : R := fmean n f (x st) - fs + a s share * part * errors st.
Definition squared_gradient (st : state) : R := sq (gmean n grad (x st)).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : class (- L_f) L_f (fmean n f) (gmean n grad).
Hypothesis fi_class : forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i).
Hypothesis L_f_pos : 0 < L_f.
Hypothesis L_pos : forall i, (i < n)%nat -> 0 <= L i.
Hypothesis L_tilde_pos : 0 <= L_tilde.
Hypothesis L_tilde_square : L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2).
Hypothesis bounded : forall x, fs <= fmean n f x.
Hypothesis compressors : forall x i, (i < n)%nat ->
  E (C x) (fun m => sq (m i -v x i)) <= (1 - alpha) * sq (x i).
Hypothesis alpha_1 : alpha <= 1.
Hypothesis alpha_pos : 0 < alpha.
Hypothesis share_pos : 0 <= share.
Hypothesis shrinks_p : q_p s share < 1.
Hypothesis shrinks_e : q_e s share < 1.
Hypothesis gamma_pos : 0 < gamma.

Lemma inverse_n : 0 < / INR n.
Proof. apply Rinv_0_lt_compat. now apply INR_pos. Qed.

Lemma root : 0 <= s < 1 /\ s ^ 2 = 1 - alpha.
Proof.
  assert (0 <= s) by apply sqrt_pos. assert (Hs : s ^ 2 = 1 - alpha) by (apply pow2_sqrt; lra).
  split; [|exact Hs]. split; [auto|nra].
Qed.

Lemma v_pos : 0 <= v s share.
Proof. destruct root as (Hs & _). unfold v. destruct (Rlt_dec 0 share); lra. Qed.

Lemma q_p_pos : 0 <= q_p s share.
Proof.
  destruct root as (Hs & _). pose proof v_pos. unfold q_p. apply Rmult_le_pos; [lra|].
  assert (0 <= (1 + share) ^ 3) by (apply pow_le; lra). lra.
Qed.

Lemma small : 0 < share -> share < 1 /\ 0 < v s share /\
  q_e s share * v s share = (1 - share) * v s share + (1 + share) * share ^ 2.
Proof.
  intros Hp. destruct root as (Hs & _). pose proof shrinks_e as He. unfold q_e in *.
  destruct (Rlt_dec 0 share) as [_|]; [|lra].
  assert (Hv : 0 < v s share <= 1 / 2) by (unfold v; destruct (Rlt_dec 0 share); lra).
  assert (Hq : (1 - share + (1 + share) * share ^ 2 / v s share) * v s share =
    (1 - share) * v s share + (1 + share) * share ^ 2) by (field; lra).
  repeat split; auto; [|lra].
  apply (Rmult_lt_compat_r (v s share)) in He; [|lra]. rewrite Hq in He.
  assert (share * ((1 + share) * share) < share * v s share) by lra.
  apply Rmult_lt_reg_l in H; auto. nra.
Qed.

Lemma pays_p : 1 + share <= a s share * (1 - q_p s share).
Proof.
  assert (H : 1 / (1 - q_p s share) <= Rmax (1 / (1 - q_p s share))
    (if Rlt_dec 0 share then 1 / (v s share * (1 - q_e s share)) else 0)) by apply Rmax_l.
  apply (Rmult_le_compat_r (1 - q_p s share)) in H; [|lra].
  replace (1 / (1 - q_p s share) * (1 - q_p s share)) with 1 in H by (field; lra).
  unfold a. rewrite Rmult_assoc. rewrite <- (Rmult_1_r (1 + share)) at 1. apply Rmult_le_compat_l; lra.
Qed.

Lemma pays_e : (1 + share) * share <= a s share * ((1 - q_e s share) * (v s share * share)).
Proof.
  destruct (Rle_lt_or_eq_dec _ _ share_pos) as [Hp|Hz]; [|rewrite <- Hz; right; ring].
  destruct (small Hp) as (_ & Hv & _).
  assert (H : 1 / (v s share * (1 - q_e s share)) <= Rmax (1 / (1 - q_p s share))
    (if Rlt_dec 0 share then 1 / (v s share * (1 - q_e s share)) else 0)).
  { destruct (Rlt_dec 0 share) as [_|]; [apply Rmax_r|lra]. }
  assert (Hd : 0 < v s share * (1 - q_e s share)) by (apply Rmult_lt_0_compat; lra).
  apply (Rmult_le_compat_r (v s share * (1 - q_e s share))) in H; [|lra].
  replace (1 / (v s share * (1 - q_e s share)) * (v s share * (1 - q_e s share))) with 1 in H by (field; lra).
  fold (a s share) in *. unfold a. set (M := Rmax _ _) in *.
  replace ((1 + share) * M * ((1 - q_e s share) * (v s share * share)))
    with ((1 + share) * share * (M * (v s share * (1 - q_e s share)))) by ring.
  rewrite <- (Rmult_1_r ((1 + share) * share)) at 1. apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|lra].
Qed.

Lemma a_pos : 0 < a s share.
Proof. pose proof pays_p. pose proof q_p_pos. assert (0 < a s share * (1 - q_p s share)) by lra. nra. Qed.

(* p+ = - b^2 e - (1 + b) r and e+ = (1 - b) e - r for the error r of the message. *)
Lemma shrink (e0 r : V) :
  sq ((- share ^ 2) *v e0 -v (1 + share) *v r) + v s share * share * sq ((1 - share) *v e0 -v r) <=
  ((1 + share) ^ 3 + v s share) * sq r + q_e s share * v s share * share * sq e0.
Proof.
  destruct (Rle_lt_or_eq_dec _ _ share_pos) as [Hp|Hz].
  - destruct (small Hp) as (H1 & Hv & Hq). rewrite Hq.
    pose proof (sq_pos (share *v e0 -v (1 + share) *v r)) as Ha. pose proof (sq_pos (share *v e0 +v r)) as Hb.
    apply (Rmult_le_compat_l share) in Ha; [|lra].
    apply (Rmult_le_compat_l (v s share * (1 - share))) in Hb; [|apply Rmult_le_pos; lra].
    rewrite Rmult_0_r in Ha, Hb. clear Hq. revert Ha Hb. set (w := v s share). expand. intros. lra.
  - assert (Hv : v s share = 0) by (unfold v; destruct (Rlt_dec 0 share); lra). rewrite Hv, <- Hz. right. expand. ring.
Qed.

(* s^2 |p + d|^2 <= s |p|^2 + s^2/(1 - s) |d|^2. *)
Lemma split_error (p d : V) : s ^ 2 * sq (p +v d) <= s * sq p + s ^ 2 / (1 - s) * sq d.
Proof.
  destruct root as (Hs & _). pose proof (sq_pos ((1 - s) *v p -v s *v d)) as H.
  assert (0 <= s / (1 - s)) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  apply (Rmult_le_compat_l (s / (1 - s))) in H; [|auto]. rewrite Rmult_0_r in H.
  apply Rle_trans with (s ^ 2 * sq (p +v d) + s / (1 - s) * sq ((1 - s) *v p -v s *v d)); [lra|].
  right. expand. field. lra.
Qed.

Lemma keeps st : inv st -> always (step st) inv.
Proof.
  intros Hs. apply always_dmap. intros c z. cbn [h h_mean].
  rewrite dot_add_l, (Hs z), !dot_vmean_l, <- Rmult_plus_distr_l, <- sum_plus.
  f_equal. apply sum_ext. intros. symmetry. apply dot_add_l.
Qed.

Lemma start_inv x0 : always (start x0) inv.
Proof. apply always_dmap. intros c z. reflexivity. Qed.

Lemma one_error st i (x1 := x st -v gamma *v h_mean st) : (i < n)%nat ->
  E (C (fun i => share *v e st i +v (grad i x1 -v h st i))) (fun c =>
    sq (share *v (e st i +v (grad i x1 -v h st i) -v c i) -v (h st i +v c i -v grad i x1))
      + v s share * share * sq (e st i +v (grad i x1 -v h st i) -v c i)) <=
  q_p s share * sq (shifted st i) + s * q_p s share / (1 - s) * sq (grad i x1 -v grad i (x st))
    + q_e s share * v s share * share * sq (e st i).
Proof.
  intros Hi. destruct root as (Hs & Hs2). pose proof v_pos as Hv.
  set (u := fun i => share *v e st i +v (grad i x1 -v h st i)). set (N := (1 + share) ^ 3 + v s share).
  assert (HN : 0 <= N) by (unfold N; assert (0 <= (1 + share) ^ 3) by (apply pow_le; lra); lra).
  apply Rle_trans with (E (C u) (fun c => N * sq (c i -v u i) + q_e s share * v s share * share * sq (e st i))).
  - apply E_le. intros c. eapply Rle_trans; [|apply (shrink (e st i) (c i -v u i))]. right. f_equal.
    + apply same_sq. intros z. unfold u. autorewrite with dot. ring.
    + f_equal. apply same_sq. intros z. unfold u. autorewrite with dot. ring.
  - rewrite E_plus, E_scal, E_const. apply Rplus_le_compat_r.
    apply Rle_trans with (N * (s * sq (shifted st i) + s ^ 2 / (1 - s) * sq (grad i x1 -v grad i (x st)))).
    + apply Rmult_le_compat_l; [auto|]. eapply Rle_trans; [now apply compressors|]. rewrite <- Hs2.
      eapply Rle_trans; [|apply split_error]. right. f_equal. apply same_sq. intros z. unfold u, shifted.
      autorewrite with dot. ring.
    + right. unfold q_p. fold N. field. lra.
Qed.

Lemma any_part part st : 0 <= part -> inv st -> E (step st) (potential part) <=
  fmean n f (x st) - fs - gamma / 2 * squared_gradient st - (gamma / 2 - L_f / 2 * gamma ^ 2) * sq (h_mean st)
    + gamma / 2 * ((1 + share) * (P st + share * Q st))
    + a s share * part * (q_p s share * P st + q_e s share * (v s share * share * Q st)
      + s * q_p s share / (1 - s) * (L_tilde ^ 2 * (gamma ^ 2 * sq (h_mean st)))).
Proof.
  intros Hpart Hi. pose proof inverse_n as Hn. pose proof a_pos as Ha. destruct root as (Hs & _).
  pose proof (inexact_step (gamma := gamma) (x st) (h_mean st) f_class) as Hf. fold (squared_gradient st) in Hf.
  unfold step. set (x1 := x st -v gamma *v h_mean st) in *. rewrite E_dmap. unfold potential, errors.
  cbn [x]. rewrite E_plus, E_const, E_scal. unfold P at 1, Q at 1, shifted. cbn [x h e].
  (* The gradient estimate. *)
  assert (Hj : sq (h_mean st -v gmean n grad (x st)) <= (1 + share) * (P st + share * Q st)).
  { rewrite (same_sq _ (vmean n (fun i => h st i -v grad i (x st)))).
    - eapply Rle_trans; [now apply jensen_mean|]. unfold P, Q.
      assert (Hb : sum n (fun i => sq (h st i -v grad i (x st))) <=
        sum n (fun i => (1 + share) * sq (shifted st i) + (1 + share) * share * sq (e st i))).
      { apply sum_le. intros i _.
        pose proof (sq_pos (shifted st i +v e st i)) as H. apply (Rmult_le_compat_l share) in H; [|auto].
        rewrite Rmult_0_r in H.
        rewrite (same_sq _ (share *v e st i -v shifted st i))
          by (intros z; unfold shifted; autorewrite with dot; ring).
        revert H. set (p := shifted st i). clearbody p. expand. intros. lra. }
      rewrite sum_plus, !sum_scal in Hb. apply (Rmult_le_compat_l (/ INR n)) in Hb; [|lra]. lra.
    - intros z. rewrite dot_sub_l, (Hi z), dot_vmean_sub. reflexivity. }
  apply (Rmult_le_compat_l (gamma / 2)) in Hj; [|lra].
  (* The errors. *)
  set (u := fun i => share *v e st i +v (grad i x1 -v h st i)).
  assert (He : E (C u) (fun c =>
      / INR n * sum n (fun i => sq (share *v (e st i +v (grad i x1 -v h st i) -v c i) -v (h st i +v c i -v grad i x1)))
      + v s share * share * (/ INR n * sum n (fun i => sq (e st i +v (grad i x1 -v h st i) -v c i)))) <=
    q_p s share * P st + q_e s share * (v s share * share * Q st)
      + s * q_p s share / (1 - s) * (L_tilde ^ 2 * (gamma ^ 2 * sq (h_mean st)))).
  { rewrite (E_ext _ _ (fun c => / INR n * sum n (fun i =>
      sq (share *v (e st i +v (grad i x1 -v h st i) -v c i) -v (h st i +v c i -v grad i x1))
      + v s share * share * sq (e st i +v (grad i x1 -v h st i) -v c i)))).
    2:{ intros c. rewrite sum_plus, sum_scal. ring. }
    rewrite E_scal, E_sum.
    assert (Hsum := sum_le n _ _ (fun i Hin => one_error st i Hin)). cbn zeta in Hsum. fold x1 u in Hsum.
    rewrite !sum_plus, !sum_scal in Hsum. apply (Rmult_le_compat_l (/ INR n)) in Hsum; [|lra].
    pose proof (mean_lipschitz n f grad L L_tilde x1 (x st) n_pos fi_class L_pos L_tilde_square) as Hlip.
    replace (sq (x1 -v x st)) with (gamma ^ 2 * sq (h_mean st)) in Hlip by (unfold x1; expand; ring).
    apply (Rmult_le_compat_l (s * q_p s share / (1 - s))) in Hlip.
    - eapply Rle_trans; [exact Hsum|]. unfold P, Q. lra.
    - apply Rmult_le_pos; [apply Rmult_le_pos; [lra|apply q_p_pos]|left; apply Rinv_0_lt_compat; lra]. }
  apply (Rmult_le_compat_l (a s share * part)) in He; [lra|]. apply Rmult_le_pos; lra.
Qed.

Lemma P_pos st : 0 <= P st.
Proof. apply Rmult_le_pos; [left; apply inverse_n|apply sum_nonneg; intros; apply sq_pos]. Qed.
Lemma Q_pos st : 0 <= Q st.
Proof. apply Rmult_le_pos; [left; apply inverse_n|apply sum_nonneg; intros; apply sq_pos]. Qed.

Lemma potential_above part st : 0 <= part -> fmean n f (x st) - fs <= potential part st.
Proof.
  intros Hp. unfold potential, errors. pose proof a_pos. pose proof (P_pos st). pose proof (Q_pos st). pose proof v_pos.
  assert (0 <= v s share * share * Q st) by (apply Rmult_le_pos; [apply Rmult_le_pos; auto|auto]).
  assert (0 <= a s share * part * (P st + v s share * share * Q st)); [|lra].
  apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra].
Qed.

Lemma noise_square : 0 <= a s share * s * q_p s share / (1 - s).
Proof.
  destruct root as (Hs & _). pose proof a_pos. pose proof q_p_pos.
  apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra]. apply Rmult_le_pos; [apply Rmult_le_pos; lra|auto].
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

Section Nonconvex.
Hypothesis limit : gamma <= 1 / (L_f + L_tilde * noise s share / sqrt 2).

Theorem nonconvex_one_step st : inv st ->
  E (step st) (potential (gamma / 2)) <= potential (gamma / 2) st - descent gamma * squared_gradient st.
Proof.
  intros Hi. pose proof (any_part (gamma / 2) st ltac:(lra) Hi) as H. eapply Rle_trans; [exact H|]. clear H.
  destruct root as (Hs & _). pose proof pays_p as H1. pose proof pays_e as H2. unfold potential, descent, errors.
  apply (Rmult_le_compat_r (gamma / 2 * P st)) in H1; [|apply Rmult_le_pos; [lra|apply P_pos]].
  apply (Rmult_le_compat_r (gamma / 2 * Q st)) in H2; [|apply Rmult_le_pos; [lra|apply Q_pos]].
  assert (Hr : L_tilde * noise s share / sqrt 2 = L_tilde * sqrt (a s share * s * q_p s share / (1 - s))).
  { unfold noise. replace (2 * a s share * s * q_p s share / (1 - s)) with (2 * (a s share * s * q_p s share / (1 - s)))
      by (field; lra).
    rewrite sqrt_mult by (try lra; apply noise_square). field. pose proof (sqrt_lt_R0 2). lra. }
  rewrite Hr in limit.
  pose proof (largest_step _ _ _ _ L_f_pos L_tilde_pos noise_square gamma_pos limit) as Hcoef.
  apply (Rmult_le_compat_r (gamma / 2 * sq (h_mean st))) in Hcoef; [|apply Rmult_le_pos; [lra|apply sq_pos]].
  replace (gamma ^ 2 * (L_tilde ^ 2 * (a s share * s * q_p s share / (1 - s))))
    with (a s share * (s * q_p s share / (1 - s) * (L_tilde ^ 2 * gamma ^ 2))) in Hcoef by (field; lra).
  lra.
Qed.

Theorem nonconvex_T_rounds T x0 :
  descent gamma * sum T (fun t => E (bind (start x0) (rounds step t)) squared_gradient)
    + E (bind (start x0) (rounds step T)) (potential (gamma / 2)) <= E (start x0) (potential (gamma / 2)).
Proof.
  rewrite (sum_ext T _ (fun t => E (start x0) (fun s => E (rounds step t s) squared_gradient)))
    by (intros; apply E_bind).
  rewrite E_bind, <- E_sum, <- E_scal, <- E_plus.
  apply E_le_always with (P := inv); [apply start_inv|]. intros st Hs.
  pose proof (Rounds.descent step inv (potential (gamma / 2)) squared_gradient (descent gamma) 0 keeps) as Hd.
  specialize (Hd ltac:(intros u Hu; pose proof (nonconvex_one_step u Hu); lra) T st Hs). lra.
Qed.
End Nonconvex.

Section PolyakLojasiewicz.
Hypothesis mu_pos : 0 < mu.
Hypothesis PL : forall x, 2 * mu * (fmean n f x - fs) <= sq (gmean n grad x).
Hypothesis limit : gamma <= 1 / (L_f + L_tilde * noise s share).
Hypothesis slow : gamma <= (1 - Rmax (q_p s share) (q_e s share)) / (2 * mu).

Lemma slower : gamma * mu <= (1 - q_p s share) / 2 /\ gamma * mu <= (1 - q_e s share) / 2.
Proof.
  pose proof slow as H. apply (Rmult_le_compat_r mu) in H; [|lra].
  replace ((1 - Rmax (q_p s share) (q_e s share)) / (2 * mu) * mu) with ((1 - Rmax (q_p s share) (q_e s share)) / 2)
    in H by (field; lra).
  pose proof (Rmax_l (q_p s share) (q_e s share)). pose proof (Rmax_r (q_p s share) (q_e s share)). lra.
Qed.

Theorem one_step st : inv st -> E (step st) (potential gamma) <= rate mu gamma * potential gamma st.
Proof.
  intros Hi. pose proof (any_part gamma st ltac:(lra) Hi) as H. eapply Rle_trans; [exact H|]. clear H.
  destruct root as (Hs & _). destruct slower as (S1 & S2). pose proof pays_p as H1. pose proof pays_e as H2.
  pose proof a_pos as Ha. pose proof v_pos as Hv. pose proof (P_pos st) as HP. pose proof (Q_pos st) as HQ.
  pose proof (PL (x st)) as Hpl. fold (squared_gradient st) in Hpl.
  apply (Rmult_le_compat_l (gamma / 2)) in Hpl; [|lra]. unfold potential, rate, errors.
  apply (Rmult_le_compat_r (gamma / 2 * P st)) in H1; [|apply Rmult_le_pos; [lra|auto]].
  apply (Rmult_le_compat_r (gamma / 2 * Q st)) in H2; [|apply Rmult_le_pos; [lra|auto]].
  apply (Rmult_le_compat_r (a s share * gamma * P st)) in S1; [|apply Rmult_le_pos; [apply Rmult_le_pos; lra|auto]].
  apply (Rmult_le_compat_r (a s share * gamma * (v s share * share * Q st))) in S2;
    [|apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply Rmult_le_pos; [apply Rmult_le_pos; auto|auto]]].
  assert (Hn2 : 0 <= 2 * (a s share * s * q_p s share / (1 - s))) by (pose proof noise_square; lra).
  assert (Hr : noise s share = sqrt (2 * (a s share * s * q_p s share / (1 - s)))).
  { unfold noise. f_equal. field. lra. }
  rewrite Hr in limit.
  pose proof (largest_step _ _ _ _ L_f_pos L_tilde_pos Hn2 gamma_pos limit) as Hcoef.
  apply (Rmult_le_compat_r (gamma / 2 * sq (h_mean st))) in Hcoef; [|apply Rmult_le_pos; [lra|apply sq_pos]].
  replace (gamma ^ 2 * (L_tilde ^ 2 * (2 * (a s share * s * q_p s share / (1 - s)))))
    with (2 * (a s share * (s * q_p s share / (1 - s) * (L_tilde ^ 2 * gamma ^ 2)))) in Hcoef by (field; lra).
  lra.
Qed.

Lemma rate_bounds : 0 <= rate mu gamma < 1.
Proof.
  destruct slower as (S1 & _). pose proof q_p_pos. unfold rate.
  assert (0 < gamma * mu) by now apply Rmult_lt_0_compat. lra.
Qed.

Theorem T_rounds T x0 :
  E (bind (start x0) (rounds step T)) (potential gamma) <= rate mu gamma ^ T * E (start x0) (potential gamma).
Proof.
  rewrite E_bind, <- E_scal. apply E_le_always with (P := inv); [apply start_inv|].
  intros st Hs. apply T_rounds with (inv := inv); auto using keeps, one_step. apply rate_bounds.
Qed.
End PolyakLojasiewicz.
End EControl.

(* Both theorems under the conditions of their cards. *)
Section Theorems.
Context {V : space} (n : nat) (f : nat -> V -> R) (grad : nat -> V -> V) (fs : R).
Context (C : (nat -> V) -> dist (nat -> V)) (b : R).
Context (mu L_f : R) (L : nat -> R) (L_tilde alpha gamma share : R).
Notation run T x0 := (bind (start n grad C b x0) (rounds (step n grad C b gamma share) T)).
Notation Psi part := (potential n f grad fs alpha share part).

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis f_class : class (- L_f) L_f (fmean n f) (gmean n grad).
Hypothesis fi_class : forall i, (i < n)%nat -> class (- L i) (L i) (f i) (grad i).
Hypothesis L_f_pos : 0 < L_f.
Hypothesis L_pos : forall i, (i < n)%nat -> 0 <= L i.
Hypothesis L_tilde_pos : 0 <= L_tilde.
Hypothesis L_tilde_square : L_tilde ^ 2 = / INR n * sum n (fun i => L i ^ 2).
Hypothesis bounded : forall x, fs <= fmean n f x.
Hypothesis compressors : forall x i, (i < n)%nat ->
  E (C x) (fun m => sq (m i -v x i)) <= (1 - alpha) * sq (x i).
Hypothesis alpha_1 : alpha <= 1.

Theorem accuracy T x0 eps : 0 < mu -> (forall x, 2 * mu * (fmean n f x - fs) <= sq (gmean n grad x)) ->
  conditions mu L_f L_tilde alpha gamma share -> 0 < eps -> 0 < E (start n grad C b x0) (Psi gamma) ->
  ln (E (start n grad C b x0) (Psi gamma) / eps) / (gamma * mu) <= INR T ->
  E (run T x0) (fun st => fmean n f (x st) - fs) <= eps /\ E (run T x0) sent = (INR T + 1) * b.
Proof.
  intros Hmu PL (Ha & Hb & Hp & He & Hg & Hg1 & Hg2) Heps HP HT. split; [|apply bits].
  apply Rle_trans with (E (run T x0) (Psi gamma)).
  - apply E_le. intros st. apply potential_above; auto. lra.
  - eapply Rle_trans; [now apply (T_rounds n f grad fs C b mu L_f L L_tilde)|].
    pose proof (rate_bounds mu alpha gamma share alpha_1 Ha Hb Hg Hmu Hg2).
    apply enough_rounds; auto. unfold rate. now replace (1 - (1 - gamma * mu)) with (gamma * mu) by ring.
Qed.

(* Rounds, and bits per client, until the mean of E|grad f(x_t)|^2 over t < T is at most eps. *)
Theorem nonconvex_accuracy T x0 eps : nonconvex_conditions L_f L_tilde alpha gamma share ->
  0 < eps -> (1 <= T)%nat -> 2 * E (start n grad C b x0) (Psi (gamma / 2)) / (gamma * eps) <= INR T ->
  / INR T * sum T (fun t => E (run t x0) (squared_gradient n grad)) <= eps /\
  E (run T x0) sent = (INR T + 1) * b.
Proof.
  intros (Ha & Hb & Hp & He & Hg & Hg1) Heps HT H. split; [|apply bits].
  apply (average (descent gamma) (E (start n grad C b x0) (Psi (gamma / 2)))); auto.
  - unfold descent. lra.
  - pose proof (nonconvex_T_rounds n f grad fs C b L_f L L_tilde alpha gamma share n_pos f_class fi_class L_f_pos L_pos
      L_tilde_pos L_tilde_square compressors alpha_1 Ha Hb Hp He Hg Hg1 T x0).
    assert (0 <= E (run T x0) (Psi (gamma / 2))); [|lra].
    apply E_nonneg. intros st. pose proof (bounded (x st)).
    pose proof (potential_above n f grad fs alpha share n_pos alpha_1 Ha Hb Hp (gamma / 2) st ltac:(lra)). lra.
  - unfold descent. eapply Rle_trans; [|exact H]. right. field. lra.
Qed.
End Theorems.
