(* Stochastic gradients: client i draws a map xi_i from D_i, independently; xi_i x is its sampled gradient at x. *)
From Certibit Require Export Functions Distributions Rounds.

Section Samples.
Context {V : space} (n : nat) (grad : nat -> V -> V) (D : nat -> dist (V -> V)).

Definition samples : dist (nat -> V -> V) := draw n D (fun x => x).
Definition unbiased_samples : Prop :=
  forall i x z, (i < n)%nat -> E (D i) (fun xi => dot (xi x) z) = dot (grad i x) z.

(* The noise of one sample at x, and the means over the clients of its square, and of that of a difference. *)
Definition noise (i : nat) (xi : V -> V) (x : V) : V := xi x -v grad i x.
Definition mean_variance (x : V) : R := / INR n * sum n (fun i => E (D i) (fun xi => sq (noise i xi x))).
Definition mean_difference (x y : V) : R :=
  / INR n * sum n (fun i => E (D i) (fun xi => sq (noise i xi x -v noise i xi y))).
(* The mean of sampled gradients. *)
Definition sampled (xi : nat -> V -> V) (x : V) : V := vmean n (fun i => xi i x).

Lemma vsum_put (h : nat -> (V -> V) -> V) m y k a : (m <= k)%nat ->
  vsum m (fun i => h i (put y k a i)) = vsum m (fun i => h i (y i)).
Proof. induction m; intros; simpl; auto. rewrite IHm, put_old by lia. auto. Qed.

Lemma variance_of_draws m (h : nat -> (V -> V) -> V) (c : nat -> V) r :
  (forall i z, (i < m)%nat -> E (D i) (fun xi => dot (h i xi) z) = dot (c i) z) ->
  (forall z, E (draw m D r) (fun xi => dot (vsum m (fun i => h i (xi i))) z) = dot (vsum m c) z) /\
  E (draw m D r) (fun xi => sq (vsum m (fun i => h i (xi i)) -v vsum m c)) =
    sum m (fun i => E (D i) (fun xi => sq (h i xi -v c i))).
Proof.
  induction m; intros Hu.
  - split; intros; simpl; rewrite E_ret; expand; ring.
  - destruct (IHm ltac:(intros; apply Hu; lia)) as (IH1 & IH2). split.
    + intros z. rewrite E_draw_S.
      rewrite (E_ext _ _ (fun y => dot (vsum m (fun i => h i (y i))) z + dot (c m) z)).
      * rewrite E_plus, E_const, IH1. simpl. now rewrite dot_add_l.
      * intros y. simpl. rewrite <- (Hu m z) by lia.
        rewrite (E_ext _ _ (fun a => dot (vsum m (fun i => h i (y i))) z + dot (h m a) z))
          by (intros a; now rewrite vsum_put, put_new, dot_add_l by lia).
        now rewrite E_plus, E_const.
    + rewrite E_draw_S.
      rewrite (E_ext _ _ (fun y => sq (vsum m (fun i => h i (y i)) -v vsum m c)
        + E (D m) (fun a => sq (h m a -v c m)))).
      * rewrite E_plus, E_const, IH2. reflexivity.
      * intros y. simpl. set (u := vsum m (fun i => h i (y i)) -v vsum m c).
        rewrite (E_ext _ _ (fun a => sq (h m a -v c m) + (2 * dot (h m a) u - 2 * dot (c m) u + sq u))).
        -- rewrite E_plus, E_plus, E_minus, E_scal, (Hu m), !E_const by lia. ring.
        -- intros a. rewrite vsum_put, put_new by lia. unfold u. expand. ring.
Qed.

Hypothesis n_pos : (1 <= n)%nat.
Hypothesis fair : unbiased_samples.

Lemma sampled_mean x z : E samples (fun xi => dot (sampled xi x) z) = dot (gmean n grad x) z.
Proof.
  destruct (variance_of_draws n (fun _ xi => xi x) (fun i => grad i x) (fun x => x)) as (H & _).
  { intros; now apply fair. }
  unfold sampled, gmean, vmean, samples.
  rewrite (E_ext _ _ (fun xi => / INR n * dot (vsum n (fun i => xi i x)) z)) by (intros; apply dot_scal_l).
  now rewrite E_scal, H, dot_scal_l.
Qed.

Lemma mean_of_draws (h : nat -> (V -> V) -> V) (c : nat -> V) :
  (forall i z, (i < n)%nat -> E (D i) (fun xi => dot (h i xi) z) = dot (c i) z) ->
  E samples (fun xi => sq (vmean n (fun i => h i (xi i)) -v vmean n c)) =
    / INR n * (/ INR n * sum n (fun i => E (D i) (fun xi => sq (h i xi -v c i)))).
Proof.
  intros Hu. destruct (variance_of_draws n h c (fun x => x) Hu) as (_ & H).
  rewrite <- H, <- Rmult_assoc, <- E_scal. apply E_ext. intros xi. unfold vmean. expand. ring.
Qed.

Lemma sampled_variance x :
  E samples (fun xi => sq (sampled xi x -v gmean n grad x)) = / INR n * mean_variance x.
Proof. apply (mean_of_draws (fun _ xi => xi x) (fun i => grad i x)). intros; now apply fair. Qed.

Lemma difference_variance x y :
  E samples (fun xi => sq (vmean n (fun i => xi i x -v xi i y) -v vmean n (fun i => grad i x -v grad i y))) =
    / INR n * mean_difference x y.
Proof.
  rewrite (mean_of_draws (fun _ xi => xi x -v xi y) (fun i => grad i x -v grad i y)).
  - unfold mean_difference. do 2 f_equal. apply sum_ext. intros. apply E_ext. intros.
    unfold noise. expand. ring.
  - intros i z Hi. rewrite (E_ext _ _ (fun xi => dot (xi x) z - dot (xi y) z)) by (intros; apply dot_sub_l).
    rewrite E_minus, !fair by auto. symmetry. apply dot_sub_l.
Qed.

(* A step along sampled gradients. *)
Lemma sampled_step gamma x z :
  E samples (fun xi => sq (x -v gamma *v sampled xi x -v z)) =
    sq (x -v gamma *v gmean n grad x -v z) + gamma ^ 2 * (/ INR n * mean_variance x).
Proof.
  rewrite <- sampled_variance, (bias_variance _ _ (x -v gamma *v gmean n grad x)).
  - f_equal. rewrite <- E_scal. apply E_ext. intros. expand. ring.
  - intros w. rewrite (E_ext _ _ (fun xi => dot x w - gamma * dot (sampled xi x) w)) by (intros; expand; ring).
    rewrite E_minus, E_const, E_scal, sampled_mean. expand. ring.
Qed.

(* The noise at x by that at y. *)
Lemma variance_split_at x y : mean_variance x <= 2 * mean_difference x y + 2 * mean_variance y.
Proof.
  unfold mean_variance, mean_difference.
  assert (H : sum n (fun i => E (D i) (fun xi => sq (noise i xi x))) <=
    sum n (fun i => 2 * E (D i) (fun xi => sq (noise i xi x -v noise i xi y))
      + 2 * E (D i) (fun xi => sq (noise i xi y)))).
  { apply sum_le. intros i _. rewrite <- !E_scal, <- E_plus. apply E_le. intros xi.
    pose proof (young (noise i xi x -v noise i xi y) ((-1) *v noise i xi y)) as H.
    revert H. expand. intros. lra. }
  rewrite sum_plus, !sum_scal in H.
  apply (Rmult_le_compat_l (/ INR n)) in H; [lra|left; now apply Rinv_0_lt_compat, INR_pos].
Qed.
Lemma difference_by x y z : mean_difference x y <= 2 * mean_difference x z + 2 * mean_difference y z.
Proof.
  unfold mean_difference.
  assert (H : sum n (fun i => E (D i) (fun xi => sq (noise i xi x -v noise i xi y))) <=
    sum n (fun i => 2 * E (D i) (fun xi => sq (noise i xi x -v noise i xi z))
      + 2 * E (D i) (fun xi => sq (noise i xi y -v noise i xi z)))).
  { apply sum_le. intros i _. rewrite <- !E_scal, <- E_plus. apply E_le. intros xi.
    pose proof (young (noise i xi x -v noise i xi z) (noise i xi y -v noise i xi z)) as H.
    revert H. expand. intros. lra. }
  rewrite sum_plus, !sum_scal in H.
  apply (Rmult_le_compat_l (/ INR n)) in H; [lra|left; now apply Rinv_0_lt_compat, INR_pos].
Qed.
End Samples.

(* Noise: E[Psi+] <= tau Psi + e. *)
Theorem noisy_T_rounds {S : Type} (step : S -> dist S) (inv : S -> Prop) (Psi : S -> R) (tau e : R) :
  (forall s, inv s -> always (step s) inv) -> 0 <= tau < 1 -> 0 <= e ->
  (forall s, inv s -> E (step s) Psi <= tau * Psi s + e) ->
  forall T s, inv s -> E (rounds step T s) Psi <= tau ^ T * Psi s + e / (1 - tau).
Proof.
  intros Hk Ht He H1 T s Hs. assert (0 <= e / (1 - tau)).
  { apply Rmult_le_pos; [auto|]. left. apply Rinv_0_lt_compat. lra. }
  induction T as [|T IH]; simpl; [rewrite E_ret; lra|].
  rewrite E_bind. apply Rle_trans with (E (rounds step T s) (fun s => tau * Psi s + e)).
  - eapply E_le_always; [now apply (always_rounds step inv Hk)|auto].
  - rewrite E_plus, E_scal, E_const. apply (Rmult_le_compat_l tau) in IH; [|lra].
    replace (e / (1 - tau)) with (tau * (e / (1 - tau)) + e) by (field; lra). lra.
Qed.

Lemma noisy_average c psi e T a : 0 < c -> (1 <= T)%nat -> c * sum T a <= psi + INR T * e ->
  / INR T * sum T a <= psi / (c * INR T) + e / c.
Proof.
  intros Hc HT H. pose proof (INR_pos T HT) as Hp.
  apply (Rmult_le_reg_l (c * INR T)); [now apply Rmult_lt_0_compat|].
  replace (c * INR T * (/ INR T * sum T a)) with (c * sum T a) by (field; lra).
  replace (c * INR T * (psi / (c * INR T) + e / c)) with (psi + INR T * e) by (field; lra). exact H.
Qed.
