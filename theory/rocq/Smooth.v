(* A function whose gradient is L-Lipschitz belongs to the class of smooth functions. *)
From Certibit Require Export Functions.

Section Smooth.
Context {V : space} (f : V -> R) (grad : V -> V) (L : R).

(* f has the derivative <grad f, d> along every line, and equal values at vectors with equal inner products. *)
Definition has_gradient : Prop := forall x d t,
  derivable_pt_lim (fun t => f (x +v t *v d)) t (dot (grad (x +v t *v d)) d).
Definition lipschitz : Prop := forall x y, sq (grad x -v grad y) <= L ^ 2 * sq (x -v y).
Definition respects_same : Prop := forall x y, same x y -> f x = f y.

Lemma cauchy_schwarz (x y : V) : dot x y ^ 2 <= sq x * sq y.
Proof.
  destruct (Req_dec (sq y) 0) as [H|H].
  - rewrite (dot_sym x y), (null_dot y H), H. lra.
  - pose proof (sq_pos y). assert (Hy : 0 < sq y) by lra.
    pose proof (sq_pos (sq y *v x -v dot x y *v y)) as H1.
    replace (sq _) with (sq y * (sq x * sq y - dot x y ^ 2)) in H1 by (expand; ring).
    apply (Rmult_le_reg_l (sq y)); [auto|]. lra.
Qed.

Lemma derivative_quadratic a c t : derivable_pt_lim (fun t => a * t + c * (t * t)) t (a + 2 * c * t).
Proof.
  replace (a + 2 * c * t) with (a * 1 + c * (1 * t + t * 1)) by ring.
  apply (derivable_pt_lim_plus (fun t => a * t) (fun t => c * (t * t))).
  - apply (derivable_pt_lim_scal id). apply derivable_pt_lim_id.
  - apply (derivable_pt_lim_scal (fun t => t * t)).
    apply (derivable_pt_lim_mult id id); apply derivable_pt_lim_id.
Qed.

Hypothesis gradient : has_gradient.
Hypothesis L_pos : 0 <= L.
Hypothesis smooth : lipschitz.
Hypothesis f_same : respects_same.

Lemma slope x d t : 0 <= t -> Rabs (dot (grad (x +v t *v d) -v grad x) d) <= L * t * sq d.
Proof.
  intros Ht. pose proof (sq_pos d) as Hd.
  assert (Hb : 0 <= L * t * sq d) by (repeat apply Rmult_le_pos; auto).
  rewrite <- (Rabs_pos_eq _ Hb). apply Rsqr_le_abs_0.
  pose proof (cauchy_schwarz (grad (x +v t *v d) -v grad x) d) as Hc.
  pose proof (smooth (x +v t *v d) x) as Hl.
  replace (sq (x +v t *v d -v x)) with (t ^ 2 * sq d) in Hl by (expand; ring).
  unfold Rsqr. apply (Rmult_le_compat_r (sq d)) in Hl; [|auto]. nra.
Qed.

Lemma along c x y : (forall t, 0 <= t -> dot (grad (x +v t *v (y -v x)) -v grad x) (y -v x) <=
    c * t * sq (y -v x)) ->
  f y <= f x + dot (grad x) (y -v x) + c / 2 * sq (y -v x).
Proof.
  set (d := y -v x). intros H.
  destruct (MVT_cor2 (fun t => f (x +v t *v d) - (dot (grad x) d * t + c / 2 * sq d * (t * t)))
    (fun t => dot (grad (x +v t *v d)) d - (dot (grad x) d + 2 * (c / 2 * sq d) * t)) 0 1)
    as (t & Ht & Hi); [lra| |].
  - intros t _. apply (derivable_pt_lim_minus (fun t => f (x +v t *v d))).
    + apply gradient.
    + apply derivative_quadratic.
  - assert (H0 : f (x +v 0 *v d) = f x) by (apply f_same; intros z; expand; ring).
    assert (H1 : f (x +v 1 *v d) = f y) by (apply f_same; intros z; unfold d; expand; ring).
    rewrite H0, H1 in Ht. specialize (H t ltac:(lra)). rewrite dot_sub_l in H. lra.
Qed.
End Smooth.

Theorem smooth_class {V : space} (f : V -> R) grad L : has_gradient f grad -> 0 <= L ->
  lipschitz grad L -> respects_same f -> class (- L) L f grad.
Proof.
  intros Hg HL Hl Hf. split; intros x y.
  - assert (H : - f y <= - f x + dot ((-1) *v grad x) (y -v x) + L / 2 * sq (y -v x)).
    { apply (along (fun x => - f x) (fun x => (-1) *v grad x)).
      - intros u d t. rewrite dot_scal_l. replace (-1 * _) with (- dot (grad (u +v t *v d)) d) by ring.
        apply (derivable_pt_lim_opp (fun t => f (u +v t *v d))), Hg.
      - intros u v H. f_equal. now apply Hf.
      - intros t Ht. pose proof (slope grad L HL Hl x (y -v x) t Ht) as Hs.
        pose proof (Rle_abs (- dot (grad (x +v t *v (y -v x)) -v grad x) (y -v x))) as Ha.
        rewrite Rabs_Ropp in Ha. rewrite dot_sub_l in *. rewrite !dot_scal_l. lra. }
    rewrite dot_scal_l in H. lra.
  - apply along; auto. intros t Ht. pose proof (slope grad L HL Hl x (y -v x) t Ht) as Hs.
    eapply Rle_trans; [apply Rle_abs|exact Hs].
Qed.

(* mu-strongly convex and L-smooth by the usual definition. *)
Corollary strongly_convex_class {V : space} (f : V -> R) grad mu L : has_gradient f grad -> 0 <= L ->
  lipschitz grad L -> respects_same f ->
  (forall x y, f x + dot (grad x) (y -v x) + mu / 2 * sq (y -v x) <= f y) -> class mu L f grad.
Proof. intros Hg HL Hl Hf Hm. split; [exact Hm|]. apply (smooth_class f grad L); auto. Qed.
