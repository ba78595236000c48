(* From one step to T rounds, and to the bits until |x - x*|^2 <= eps. *)
From Certibit Require Export Distributions.

Fixpoint rounds {S} (step : S -> dist S) (T : nat) (s : S) : dist S :=
  match T with O => ret s | Datatypes.S T => bind (rounds step T s) step end.

Section Rounds.
Context {S : Type} (step : S -> dist S) (inv : S -> Prop) (Psi : S -> R) (tau : R).
Hypothesis keeps : forall s, inv s -> always (step s) inv.

Lemma always_rounds T s : inv s -> always (rounds step T s) inv.
Proof. intros H. induction T; simpl; [now apply always_ret|]. eapply always_bind; eauto. Qed.

Hypothesis tau_pos : 0 <= tau.
Hypothesis one_step : forall s, inv s -> E (step s) Psi <= tau * Psi s.

Theorem T_rounds T s : inv s -> E (rounds step T s) Psi <= tau ^ T * Psi s.
Proof.
  intros Hs. induction T as [|T IH]; simpl; [rewrite E_ret; lra|].
  rewrite E_bind. apply Rle_trans with (E (rounds step T s) (fun s => tau * Psi s)).
  - eapply E_le_always; [now apply always_rounds|auto].
  - rewrite E_scal, Rmult_assoc. now apply Rmult_le_compat_l.
Qed.

(* The number of bits sent: each step adds at most b in expectation. *)
Context (sent : S -> R) (b : R).
Hypothesis message : forall s, inv s -> E (step s) sent <= sent s + b.

Theorem T_rounds_sent T s : inv s -> E (rounds step T s) sent <= sent s + INR T * b.
Proof.
  intros Hs. induction T as [|T IH]; [simpl; rewrite E_ret; lra|].
  rewrite S_INR. simpl. rewrite E_bind.
  apply Rle_trans with (E (rounds step T s) (fun s => sent s + b)).
  - eapply E_le_always; [now apply always_rounds|auto].
  - rewrite E_plus, E_const. lra.
Qed.
End Rounds.

Lemma power_bound tau T : 0 <= tau -> tau ^ T <= exp (- (INR T * (1 - tau))).
Proof.
  intros Ht. induction T as [|T IH].
  - simpl. rewrite Rmult_0_l, Ropp_0, exp_0. lra.
  - rewrite S_INR. simpl.
    replace (- ((INR T + 1) * (1 - tau))) with (- (1 - tau) + - (INR T * (1 - tau))) by ring.
    rewrite exp_plus. apply Rmult_le_compat; auto; [now apply pow_le|].
    pose proof (exp_ineq1_le (- (1 - tau))). lra.
Qed.

Theorem enough_rounds tau T psi eps : 0 <= tau < 1 -> 0 < eps -> 0 < psi ->
  ln (psi / eps) / (1 - tau) <= INR T -> tau ^ T * psi <= eps.
Proof.
  intros Ht He Hp H.
  apply Rle_trans with (exp (- (INR T * (1 - tau))) * psi).
  - apply Rmult_le_compat_r; [lra|]. apply power_bound; lra.
  - assert (Hl : ln (psi / eps) <= INR T * (1 - tau)).
    { apply (Rmult_le_compat_r (1 - tau)) in H; [|lra].
      unfold Rdiv at 1 in H. rewrite Rmult_assoc, Rinv_l in H by lra. lra. }
    assert (Hq : exp (- (INR T * (1 - tau))) <= exp (- ln (psi / eps))).
    { destruct (Req_dec (INR T * (1 - tau)) (ln (psi / eps))) as [->|]; [lra|].
      left. apply exp_increasing. lra. }
    rewrite (exp_Ropp (ln _)), exp_ln in Hq by (apply Rdiv_lt_0_compat; lra).
    apply Rle_trans with (/ (psi / eps) * psi); [apply Rmult_le_compat_r; lra|].
    right. field. lra.
Qed.

(* Descents: E[Psi+] <= Psi - c gap + e gives the mean of the gaps over T rounds. *)
Theorem descent {S : Type} (step : S -> dist S) (inv : S -> Prop) (Psi gap : S -> R) (c e : R) :
  (forall s, inv s -> always (step s) inv) ->
  (forall s, inv s -> E (step s) Psi <= Psi s - c * gap s + e) ->
  forall T s, inv s ->
  c * sum T (fun t => E (rounds step t s) gap) + E (rounds step T s) Psi <= Psi s + INR T * e.
Proof.
  intros Hk H1 T s Hs. induction T as [|T IH]; [simpl; rewrite E_ret; lra|].
  rewrite S_INR. cbn [sum rounds]. rewrite E_bind.
  assert (H : E (rounds step T s) (fun s => E (step s) Psi) <=
    E (rounds step T s) (fun s => Psi s - c * gap s + e)).
  { eapply E_le_always; [now apply (always_rounds step inv Hk)|auto]. }
  rewrite E_plus, E_minus, E_scal, E_const in H. lra.
Qed.
