(* The algebra that EF and EF21 share: rate of arXiv:2506.05271, for any number of clients. *)
From Certibit Require Export Spaces.

Section Feedback.
Context (mu L s : R).
Definition best_step : R := 2 / (L + mu) * (1 - s) / (1 + s).
Definition growth : R := best_step / (L + mu) *
  ((1 - s) * (L - mu) + (1 + s) * sqrt ((L - mu) ^ 2 + 16 * L * mu * s / (1 + s) ^ 2)).
Definition best_factor : R := s + (1 + s) * (L - mu) * growth / 4.

Hypothesis s_bounds : 0 < s < 1.
Hypothesis mu_pos : 0 < mu.
Hypothesis mu_L : mu <= L.

Let q : R := sqrt ((L - mu) ^ 2 + 16 * L * mu * s / (1 + s) ^ 2).

Lemma q_square : q ^ 2 = (L - mu) ^ 2 + 16 * L * mu * s / (1 + s) ^ 2.
Proof.
  unfold q. apply pow2_sqrt.
  apply Rplus_le_le_0_compat; [nra|]. left. apply Rdiv_lt_0_compat; [|nra].
  repeat apply Rmult_lt_0_compat; lra.
Qed.

Lemma q_large : L - mu <= q.
Proof.
  pose proof q_square as H. assert (0 <= q) by apply sqrt_pos.
  assert (0 < 16 * L * mu * s / (1 + s) ^ 2).
  { apply Rdiv_lt_0_compat; [|nra]. repeat apply Rmult_lt_0_compat; lra. }
  nra.
Qed.

Lemma best_step_pos : 0 < best_step.
Proof.
  unfold best_step. apply Rdiv_lt_0_compat; [|lra]. apply Rmult_lt_0_compat; [|lra].
  apply Rdiv_lt_0_compat; lra.
Qed.

Lemma factor_pos : 0 < best_factor.
Proof.
  pose proof q_large. pose proof best_step_pos. unfold best_factor.
  assert (0 <= growth).
  { unfold growth. fold q. apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; lra|].
    apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra. }
  assert (0 <= (1 + s) * (L - mu) * growth) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|auto]). lra.
Qed.

Lemma q_small : q <= L + mu.
Proof.
  assert (H : 16 * L * mu * s / (1 + s) ^ 2 <= 4 * (L * mu)).
  { apply (Rmult_le_reg_r ((1 + s) ^ 2)); [apply pow_lt; lra|].
    replace (16 * L * mu * s / (1 + s) ^ 2 * (1 + s) ^ 2) with (16 * (L * mu) * s) by (field; lra).
    assert (0 <= 4 * (L * mu) * (1 - s) ^ 2)
      by (apply Rmult_le_pos; [nra|apply pow2_ge_0]). lra. }
  pose proof q_square as Hq. assert (0 <= q) by apply sqrt_pos. nra.
Qed.

Lemma factor_below_1 : best_factor < 1.
Proof.
  pose proof q_small as Hq. unfold best_factor, growth. fold q.
  set (S := (L - mu) * ((1 - s) * (L - mu) + (1 + s) * q)).
  replace (s + (1 + s) * (L - mu) * (best_step / (L + mu) * ((1 - s) * (L - mu) + (1 + s) * q)) / 4)
    with (s + (1 - s) * (S / (2 * (L + mu) ^ 2))) by (unfold S, best_step; field; lra).
  assert (HS : S <= (L - mu) * (2 * (L + mu))).
  { apply Rmult_le_compat_l; [lra|]. nra. }
  assert (S / (2 * (L + mu) ^ 2) < 1).
  { apply (Rmult_lt_reg_r (2 * (L + mu) ^ 2)); [nra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by nra. nra. }
  nra.
Qed.

Section Strict.
Hypothesis strict : mu < L.
Let nu : R := growth / (L - mu).
Let gg : R := nu - (1 + s) * best_step ^ 2.
Let yg : R := best_step - nu * (L + mu) / 2.
Let eg : R := - s * best_step - nu * (L + mu) / 2.

Lemma gg_pos : 0 < gg.
Proof.
  unfold gg, nu, growth. fold q. pose proof q_large.
  pose proof best_step_pos as Hb.
  replace (best_step / (L + mu) * ((1 - s) * (L - mu) + (1 + s) * q) / (L - mu) - (1 + s) * best_step ^ 2)
    with (best_step / (L + mu) * ((1 + s) * (q - (L - mu)) / (L - mu) + 2 * s)).
  - apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|].
    assert (0 <= (1 + s) * (q - (L - mu)) / (L - mu)); [|lra].
    apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. left. apply Rinv_0_lt_compat. lra.
  - unfold best_step. field. lra.
Qed.

(* q1 = (1 + s) q is the root of a polynomial. *)
Let q1 : R := (1 + s) * q.
Lemma q1_square : q1 ^ 2 = (1 + s) ^ 2 * (L - mu) ^ 2 + 16 * L * mu * s.
Proof. unfold q1. rewrite Rpow_mult_distr, q_square. field. lra. Qed.
Lemma growth_q1 : growth = best_step / (L + mu) * ((1 - s) * (L - mu) + q1).
Proof. reflexivity. Qed.

Lemma gy : gg * (best_factor - 1 + nu * mu * L) = yg ^ 2.
Proof.
  pose proof q1_square as Hq. unfold gg, yg, nu, best_factor. rewrite growth_q1. clearbody q1.
  unfold best_step. field [Hq]. lra.
Qed.
Lemma ge : gg * (best_factor / s - s + nu * mu * L) = eg ^ 2.
Proof.
  pose proof q1_square as Hq. unfold gg, eg, nu, best_factor. rewrite growth_q1. clearbody q1.
  unfold best_step. field [Hq]. lra.
Qed.
Lemma gye : gg * (nu * mu * L) = yg * eg.
Proof.
  pose proof q1_square as Hq. unfold gg, eg, yg, nu, best_factor. rewrite growth_q1. clearbody q1.
  unfold best_step. field [Hq]. lra.
Qed.

Lemma growth_pos : 0 < growth.
Proof.
  unfold growth. fold q. pose proof q_large. pose proof best_step_pos.
  apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|]. nra.
Qed.

Lemma nu_pos : 0 < nu.
Proof. apply Rdiv_lt_0_compat; [apply growth_pos|lra]. Qed.

Section Vectors.
Context {V : space}.

(* The remaining form is a square. *)
Lemma one_client (y e g : V) (x := y +v e) :
  nu * dot (g -v mu *v x) (L *v x -v g) + sq (y -v best_step *v g) + s * sq (e +v best_step *v g) <=
  best_factor * (sq y + / s * sq e).
Proof.
  pose proof (sq_pos (gg *v g +v yg *v y +v eg *v e)) as H.
  replace (sq _) with (gg ^ 2 * sq g + yg ^ 2 * sq y + eg ^ 2 * sq e + 2 * gg * yg * dot y g
    + 2 * gg * eg * dot e g + 2 * (yg * eg) * dot y e) in H by (expand; ring).
  rewrite <- gy, <- ge, <- gye in H. apply (Rmult_le_reg_l gg); [apply gg_pos|].
  apply Rminus_le. eapply Rle_trans; [|apply Ropp_le_contravar in H; rewrite Ropp_0 in H; exact H].
  right. unfold x, gg, yg, eg. clearbody nu. expand. field. lra.
Qed.

Lemma deviation (e g : V) : s * sq (e +v best_step *v g) <= best_factor / s * sq e + nu * sq g.
Proof.
  pose proof (one_client ((-1) *v e) e g) as H. cbn zeta in H. pose proof nu_pos. pose proof factor_pos.
  replace (dot _ _) with (- sq g) in H by (expand; ring).
  replace (sq ((-1) *v e -v best_step *v g)) with (sq (e +v best_step *v g)) in H by (expand; ring).
  replace (sq ((-1) *v e)) with (sq e) in H by (expand; ring).
  pose proof (sq_pos g) as Hg. pose proof (sq_pos e) as He.
  replace (best_factor * (sq e + / s * sq e)) with ((1 + s) * (best_factor / s * sq e)) in H by (field; lra).
  assert (Hf : 0 <= best_factor / s * sq e)
    by (apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; lra|auto]).
  assert (Hn : 0 <= nu * sq g) by (apply Rmult_le_pos; lra).
  set (c := sq (e +v best_step *v g)) in *. set (F := best_factor / s * sq e) in *.
  set (N := nu * sq g) in *. replace (nu * - sq g) with (- N) in H by (unfold N; ring).
  assert (Hc : (1 + s) * c <= (1 + s) * F + N) by lra.
  clearbody c F N.
  assert (s * ((1 + s) * c) <= s * ((1 + s) * F + N)) by (apply Rmult_le_compat_l; lra).
  assert (0 <= (1 + s) * (1 - s) * F) by (repeat apply Rmult_le_pos; lra).
  apply (Rmult_le_reg_l (1 + s)); lra.
Qed.

Context (n : nat) (n_pos : (1 <= n)%nat).

Lemma strict_clients (y : V) (e g : nat -> V) (x := y +v vmean n e) :
  0 <= / INR n * sum n (fun i => dot (g i -v mu *v x) (L *v x -v g i)) ->
  sq (y -v best_step *v vmean n g) + s * (/ INR n * sum n (fun i => sq (e i +v best_step *v g i))) <=
  best_factor * (sq y + / s * (/ INR n * sum n (fun i => sq (e i)))).
Proof.
  intros Hc. pose proof (INR_pos n n_pos) as Hn. pose proof (Rinv_0_lt_compat _ Hn) as Hi.
  pose proof (one_client y (vmean n e) (vmean n g)) as H1. fold x in H1. cbn zeta in H1.
  rewrite (variance_split n e n_pos), (variance_split n (fun i => e i +v best_step *v g i) n_pos).
  assert (Hm : forall z, dot (vmean n (fun i => e i +v best_step *v g i)) z =
    dot (vmean n e +v best_step *v vmean n g) z).
  { intros z. rewrite dot_add_l, dot_scal_l, !dot_vmean_l.
    rewrite (sum_ext n _ (fun i => dot (e i) z + best_step * dot (g i) z)) by (intros; expand; ring).
    rewrite sum_plus, sum_scal. ring. }
  rewrite (same_sq _ _ Hm).
  rewrite (sum_ext n (fun i => sq (_ -v vmean n (fun i => e i +v best_step *v g i)))
    (fun i => sq ((e i -v vmean n e) +v best_step *v (g i -v vmean n g)))).
  2:{ intros. apply same_sq. intros z. rewrite dot_sub_l, Hm. expand. ring. }
  assert (Hd := sum_le n _ _ (fun i _ => deviation (e i -v vmean n e) (g i -v vmean n g))).
  rewrite sum_plus, !sum_scal in Hd. apply (Rmult_le_compat_l (/ INR n)) in Hd; [|lra].
  assert (Hg : / INR n * sum n (fun i => dot (g i -v mu *v x) (L *v x -v g i)) =
    dot (vmean n g -v mu *v x) (L *v x -v vmean n g) - / INR n * sum n (fun i => sq (g i -v vmean n g))).
  { rewrite (sum_ext n _ (fun i => (L + mu) * dot (g i) x - sq (g i) + - (mu * L * sq x)))
      by (intros; expand; ring).
    rewrite sum_plus, sum_minus, sum_scal, sum_const.
    pose proof (variance_split n g n_pos) as Hv. pose proof (dot_vmean_l n g x) as Hx.
    replace (dot (vmean n g -v mu *v x) (L *v x -v vmean n g)) with
      ((L + mu) * dot (vmean n g) x - sq (vmean n g) - mu * L * sq x) by (expand; ring).
    rewrite Hx. replace (/ INR n * (_ - _ + _)) with ((L + mu) * (/ INR n * sum n (fun i => dot (g i) x))
      - / INR n * sum n (fun i => sq (g i)) - mu * L * sq x) by (field; lra).
    lra. }
  rewrite Hg in Hc. apply (Rmult_le_compat_l nu) in Hc; [|left; apply nu_pos].
  rewrite Rmult_0_r in Hc. unfold Rdiv in Hd. lra.
Qed.

End Vectors.
End Strict.

Section Vectors.
Context {V : space} (n : nat) (n_pos : (1 <= n)%nat).

(* If mu = L, the inequality says that g_i = L x, and the forms are equal but for the deviations of e. *)
Lemma equal_clients (y : V) (e g : nat -> V) (x := y +v vmean n e) : mu = L ->
  0 <= / INR n * sum n (fun i => dot (g i -v mu *v x) (L *v x -v g i)) ->
  sq (y -v best_step *v vmean n g) + s * (/ INR n * sum n (fun i => sq (e i +v best_step *v g i))) <=
  best_factor * (sq y + / s * (/ INR n * sum n (fun i => sq (e i)))).
Proof.
  intros Heq Hc. pose proof (INR_pos n n_pos) as Hn. pose proof (Rinv_0_lt_compat _ Hn) as Hi.
  assert (Hz : sum n (fun i => sq (g i -v L *v x)) <= 0).
  { rewrite Heq in Hc. apply (Rmult_le_compat_l (INR n)) in Hc; [|lra].
    rewrite Rmult_0_r, <- Rmult_assoc, Rinv_r, Rmult_1_l in Hc by lra.
    rewrite (sum_ext n _ (fun i => (-1) * sq (g i -v L *v x))) in Hc by (intros; expand; ring).
    rewrite sum_scal in Hc. lra. }
  assert (Hg : forall i, (i < n)%nat -> same (g i) (L *v x)).
  { intros i Hin z. assert (H0 : sq (g i -v L *v x) = 0).
    { apply Rle_antisym; [|apply sq_pos]. eapply Rle_trans; [|exact Hz].
      rewrite <- (sum_delta n i (fun i => sq (g i -v L *v x)) Hin). apply sum_le.
      intros j _. destruct (Nat.eqb j i); [lra|apply sq_pos]. }
    pose proof (null_dot _ H0 z) as H. rewrite dot_sub_l in H. lra. }
  set (t := best_step * L).
  assert (H1 : sq (y -v best_step *v vmean n g) = sq (y -v t *v x)).
  { apply same_sq. intros z. rewrite !dot_sub_l, !dot_scal_l, dot_vmean_l.
    rewrite (sum_ext n _ (fun _ => dot (L *v x) z)) by (intros; apply Hg; auto).
    rewrite sum_const, dot_scal_l. unfold t. field. lra. }
  assert (H2 : / INR n * sum n (fun i => sq (e i +v best_step *v g i)) =
    / INR n * sum n (fun i => sq (e i)) + 2 * t * dot (vmean n e) x + t ^ 2 * sq x).
  { rewrite (sum_ext n _ (fun i => sq (e i) + 2 * t * dot (e i) x + t ^ 2 * sq x)).
    - rewrite !sum_plus, sum_scal, sum_const, dot_vmean_l. field. lra.
    - intros i Hin. rewrite (same_sq _ (e i +v t *v x)); [expand; ring|].
      intros z. rewrite !dot_add_l, !dot_scal_l, (Hg i Hin z), dot_scal_l. unfold t. ring. }
  rewrite H1, H2. pose proof (jensen_mean n e n_pos) as Hj.
  set (Q := / INR n * sum n (fun i => sq (e i))) in *.
  assert (Hf : best_factor = s) by (unfold best_factor; rewrite Heq; field). rewrite Hf.
  assert (Ht : t = (1 - s) / (1 + s)) by (unfold t, best_step; rewrite Heq; field; lra).
  assert (Hid : s * (sq y + / s * Q) - (sq (y -v t *v x) + s * (Q + 2 * t * dot (vmean n e) x + t ^ 2 * sq x))
    = (1 - s) * (Q - sq (vmean n e))).
  { unfold x. expand. rewrite Ht. field. lra. }
  assert (0 <= (1 - s) * (Q - sq (vmean n e))) by (apply Rmult_le_pos; lra). lra.
Qed.

(* Smaller steps: the bound is convex in gamma. *)
Definition feedback_factor (gamma : R) : R := 1 - gamma / best_step * (1 - best_factor).

Theorem feedback gamma (y : V) (e g : nat -> V) (x := y +v vmean n e) : 0 <= gamma <= best_step ->
  0 <= / INR n * sum n (fun i => dot (g i -v mu *v x) (L *v x -v g i)) ->
  sq (y -v gamma *v vmean n g) + s * (/ INR n * sum n (fun i => sq (e i +v gamma *v g i))) <=
  feedback_factor gamma * (sq y + / s * (/ INR n * sum n (fun i => sq (e i)))).
Proof.
  intros Hg Hc. pose proof (INR_pos n n_pos) as Hn. pose proof (Rinv_0_lt_compat _ Hn) as Hi.
  pose proof best_step_pos as Hb.
  assert (H1 : sq (y -v best_step *v vmean n g) + s * (/ INR n * sum n (fun i => sq (e i +v best_step *v g i)))
    <= best_factor * (sq y + / s * (/ INR n * sum n (fun i => sq (e i))))).
  { destruct (Rle_lt_or_eq_dec _ _ mu_L) as [Hs|Hs]; [now apply strict_clients|now apply equal_clients]. }
  set (t := gamma / best_step).
  assert (Ht : 0 <= t <= 1).
  { unfold t. split; [apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]|].
    apply (Rmult_le_reg_r best_step); [auto|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (Hgt : gamma = t * best_step) by (unfold t; field; lra).
  assert (Hff : feedback_factor gamma = 1 - t * (1 - best_factor)) by reflexivity.
  rewrite Hff. clearbody t. rewrite Hgt. clear Hgt Hff Hg.
  assert (Hy : sq (y -v t * best_step *v vmean n g) <=
    t * sq (y -v best_step *v vmean n g) + (1 - t) * sq y).
  { pose proof (sq_convex y ((- best_step) *v vmean n g) t Ht) as H.
    replace (sq (y -v t * best_step *v vmean n g)) with (sq (y +v t *v ((- best_step) *v vmean n g)))
      by (expand; ring).
    replace (sq (y -v best_step *v vmean n g)) with (sq (y +v (- best_step) *v vmean n g))
      by (expand; ring). exact H. }
  assert (He := sum_le n (fun i => sq (e i +v t * best_step *v g i))
    (fun i => t * sq (e i +v best_step *v g i) + (1 - t) * sq (e i))).
  specialize (He ltac:(intros i _; eapply Rle_trans;
    [|apply (sq_convex (e i) (best_step *v g i) t Ht)]; right; expand; ring)).
  rewrite sum_plus, !sum_scal in He. apply (Rmult_le_compat_l (/ INR n)) in He; [|lra].
  apply (Rmult_le_compat_l s) in He; [|lra].
  set (B := / INR n * sum n (fun i => sq (e i +v best_step *v g i))) in *.
  set (Q := / INR n * sum n (fun i => sq (e i))) in *.
  assert (HQ : 0 <= Q) by (apply Rmult_le_pos; [lra|apply sum_nonneg; intros; apply sq_pos]).
  pose proof (sq_pos y) as Hy0.
  replace (s * (/ INR n * (t * _ + (1 - t) * _))) with (t * (s * B) + (1 - t) * (s * Q)) in He
    by (unfold B, Q; ring).
  apply (Rmult_le_compat_l t) in H1; [|lra].
  assert (HsQ : (1 - t) * (s * Q) <= (1 - t) * (/ s * Q)).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; [auto|].
    apply Rle_trans with 1; [lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
  lra.
Qed.
End Vectors.

Lemma factor_bounds gamma : 0 < gamma <= best_step -> 0 <= feedback_factor gamma < 1.
Proof.
  intros Hg. pose proof best_step_pos as Hb. pose proof factor_pos as Hf. pose proof factor_below_1.
  assert (Ht : 0 < gamma / best_step <= 1).
  { split; [apply Rdiv_lt_0_compat; lra|]. apply (Rmult_le_reg_r best_step); [auto|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  unfold feedback_factor. set (t := gamma / best_step) in *. split; nra.
Qed.
End Feedback.
