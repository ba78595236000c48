From Certibit.relaxed Require Export smooth.
Local Open Scope R_scope.

(** * Polynomials in G with integer coefficients, the lowest power first, and their signs *)

Definition poly := list Z.

Fixpoint eval (p : poly) (x : R) : R :=
  match p with [] => 0 | a :: q => IZR a + x * eval q x end.

Fixpoint padd (p q : poly) : poly :=
  match p, q with
  | [], _ => q
  | _, [] => p
  | a :: p', b :: q' => (a + b)%Z :: padd p' q'
  end.
Definition pscale (c : Z) (p : poly) : poly := map (Z.mul c) p.
Fixpoint pmul (p q : poly) : poly :=
  match p with [] => [] | a :: p' => padd (pscale a q) (0%Z :: pmul p' q) end.
Fixpoint ppow (p : poly) (k : nat) : poly :=
  match k with O => [1%Z] | S j => pmul p (ppow p j) end.
Definition psub (p q : poly) : poly := padd p (pscale (-1) q).

(** (Y^n p(X/Y), Y^n), where p has n coefficients. *)
Fixpoint at_quotient (p X Y : poly) : poly * poly :=
  match p with
  | [] => ([], [1%Z])
  | a :: q =>
      let (v, w) := at_quotient q X Y in
      let w' := pmul Y w in (padd (pscale a w') (pmul X v), w')
  end.

Fixpoint derivative (p : poly) : poly :=
  match p with [] => [] | _ :: q => padd q (0%Z :: derivative q) end.

Lemma eval_add : forall p q x, eval (padd p q) x = eval p x + eval q x.
Proof.
  induction p as [|a p IH]; intros [|b q] x; simpl; try ring.
  rewrite IH, plus_IZR; ring.
Qed.

Lemma eval_scale : forall c p x, eval (pscale c p) x = IZR c * eval p x.
Proof.
  intros c p x; induction p as [|a p IH]; simpl; [ring|].
  change (map (Z.mul c) p) with (pscale c p); rewrite IH, mult_IZR; ring.
Qed.

Lemma eval_mul : forall p q x, eval (pmul p q) x = eval p x * eval q x.
Proof.
  induction p as [|a p IH]; intros q x; simpl; [ring|].
  rewrite eval_add, eval_scale; simpl; rewrite IH; ring.
Qed.

Lemma eval_pow : forall p k x, eval (ppow p k) x = eval p x ^ k.
Proof.
  intros p k x; induction k as [|k IH]; simpl; [ring | rewrite eval_mul, IH; reflexivity].
Qed.

Lemma eval_sub : forall p q x, eval (psub p q) x = eval p x - eval q x.
Proof. intros; unfold psub; rewrite eval_add, eval_scale; ring. Qed.

Lemma eval_at_quotient : forall p X Y x, eval Y x <> 0 ->
  eval (snd (at_quotient p X Y)) x = eval Y x ^ length p /\
  eval (fst (at_quotient p X Y)) x = eval Y x ^ length p * eval p (eval X x / eval Y x).
Proof.
  intros p X Y x H; induction p as [|a p [IH1 IH2]]; simpl; [split; ring|].
  destruct (at_quotient p X Y) as [v w]; simpl in *.
  rewrite eval_add, eval_scale, !eval_mul, IH1, IH2; split; [ring | field; assumption].
Qed.

Lemma eval_derivative : forall p x, derivable_pt_lim (eval p) x (eval (derivative p) x).
Proof.
  induction p as [|a p IH]; intro x; simpl; [apply derivable_pt_lim_const|].
  apply derivative_is with (0 + (1 * eval p x + x * eval (derivative p) x)).
  - apply (derivable_pt_lim_plus (fun _ => IZR a) (fun s => s * eval p s));
      [apply derivable_pt_lim_const|].
    apply (derivable_pt_lim_mult (fun s => s) (eval p)); [apply derivable_pt_lim_id | apply IH].
  - rewrite eval_add; simpl; ring.
Qed.

(** No coefficient is negative. *)
Definition no_sign (p : poly) : bool := forallb (Z.leb 0) p.

Lemma no_sign_sound : forall p x, no_sign p = true -> 0 <= x -> 0 <= eval p x.
Proof.
  intros p x H Hx; induction p as [|a p IH]; simpl in *; [lra|].
  apply andb_prop in H; destruct H as [H1 H2].
  apply Z.leb_le, IZR_le in H1; specialize (IH H2); nra.
Qed.

(** ** On an interval *)

(** The points from [low] on, to [high] if there is one, which is left out if it is not [low]. *)
Record span := { low : Q; high : option Q }.

Definition lies (s : span) (x : R) : Prop :=
  match high s with
  | None => Q2R (low s) <= x
  | Some b => Q2R (low s) = x /\ Q2R b = x \/ Q2R (low s) <= x < Q2R b
  end.

(** The points x = X(s)/Y(s) of a span, s >= 0: those of a finite one are
    (low + high s)/(1 + s), those of an infinite one low + s. *)
Definition place (s : span) : poly * poly :=
  let a := Qnum (low s) in
  let c := Zpos (Qden (low s)) in
  match high s with
  | None => ([a; c], [c])
  | Some b =>
      if Qeq_bool (low s) b then ([a], [c])
      else let d := Zpos (Qden b) in
           ([(a * d)%Z; (Qnum b * c)%Z], [(c * d)%Z; (c * d)%Z])
  end.

Lemma Q2R_as_quotient : forall q, Q2R q = IZR (Qnum q) / IZR (Zpos (Qden q)).
Proof. reflexivity. Qed.

Lemma place_sound : forall s x, lies s x -> exists t, 0 <= t /\
  0 < eval (snd (place s)) t /\ eval (fst (place s)) t / eval (snd (place s)) t = x.
Proof.
  intros [a b] x; unfold lies, place; simpl.
  assert (Pa : 0 < IZR (Zpos (Qden a))) by (apply IZR_lt; reflexivity).
  destruct b as [b|]; intro H.
  - assert (Pb : 0 < IZR (Zpos (Qden b))) by (apply IZR_lt; reflexivity).
    destruct (Qeq_bool a b) eqn:E.
    + apply Qeq_bool_eq, Qeq_eqR in E.
      assert (X : Q2R a = x) by (destruct H as [[? ?]|?]; lra).
      exists 0; cbn -[IZR Z.mul Q2R]; rewrite Rmult_0_l, !Rplus_0_r; repeat split; try lra.
      rewrite <- X, Q2R_as_quotient; field; lra.
    + apply Qeq_bool_neq in E.
      assert (H' : Q2R a <= x < Q2R b).
      { destruct H as [[H1 H2]|H]; [|assumption]; exfalso; apply E, eqR_Qeq; lra. }
      exists ((x - Q2R a) / (Q2R b - x)).
      assert (P : 0 <= (x - Q2R a) / (Q2R b - x))
        by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
      assert (Ea : IZR (Qnum a) = Q2R a * IZR (Zpos (Qden a)))
        by (rewrite Q2R_as_quotient; field; lra).
      assert (Eb : IZR (Qnum b) = Q2R b * IZR (Zpos (Qden b)))
        by (rewrite Q2R_as_quotient; field; lra).
      cbn -[IZR Z.mul Q2R]; rewrite ?Pos2Z.inj_mul, !mult_IZR, Ea, Eb, !Rmult_0_r, !Rplus_0_r.
      assert (0 < IZR (Zpos (Qden a)) * IZR (Zpos (Qden b))) by (apply Rmult_lt_0_compat; assumption).
      repeat split;
        [assumption | apply Rplus_lt_le_0_compat; [assumption | apply Rmult_le_pos; lra] |].
      field; repeat split; try lra.
      rewrite (Rmult_comm (x - Q2R a)), <- Rmult_plus_distr_l.
      apply Rmult_integral_contrapositive; split; lra.
  - exists (x - Q2R a); cbn -[IZR Z.mul Q2R]; rewrite Rmult_0_r, !Rplus_0_r; repeat split; try lra.
    rewrite Q2R_as_quotient; field; lra.
Qed.

Definition nonnegative_on (s : span) (p : poly) : bool :=
  let (X, Y) := place s in no_sign (fst (at_quotient p X Y)).

Definition positive_on (s : span) (p : poly) : bool :=
  let (X, Y) := place s in
  let q := fst (at_quotient p X Y) in no_sign q && Z.ltb 0 (hd 0%Z q).

Lemma nonnegative_on_sound : forall s p x, nonnegative_on s p = true -> lies s x -> 0 <= eval p x.
Proof.
  intros s p x H Hx; destruct (place_sound s x Hx) as [t [Pt [PY E]]]; unfold nonnegative_on in H.
  destruct (place s) as [X Y]; simpl in *.
  destruct (eval_at_quotient p X Y t) as [_ V]; [lra|]; rewrite E in V.
  apply no_sign_sound with (x := t) in H; [|assumption]; rewrite V in H.
  assert (0 < eval Y t ^ length p) by (apply pow_lt; assumption); nra.
Qed.

Lemma positive_on_sound : forall s p x, positive_on s p = true -> lies s x -> 0 < eval p x.
Proof.
  intros s p x H Hx; destruct (place_sound s x Hx) as [t [Pt [PY E]]]; unfold positive_on in H.
  destruct (place s) as [X Y]; simpl in *; apply andb_prop in H; destruct H as [H1 H2].
  destruct (eval_at_quotient p X Y t) as [_ V]; [lra|]; rewrite E in V.
  assert (P : 0 < eval (fst (at_quotient p X Y)) t).
  { destruct (fst (at_quotient p X Y)) as [|a q]; simpl in *; [discriminate|].
    apply andb_prop in H1; destruct H1 as [_ H1]; apply Z.ltb_lt, IZR_lt in H2.
    apply no_sign_sound with (x := t) in H1; [|assumption]; nra. }
  rewrite V in P; assert (0 < eval Y t ^ length p) by (apply pow_lt; assumption); nra.
Qed.

(** Cut at some points, in order: on each part by its own signs. *)
Fixpoint nonnegative_by (s : span) (cuts : list Q) (p : poly) : bool :=
  match cuts with
  | [] => nonnegative_on s p
  | a :: others =>
      Qle_bool (low s) a && nonnegative_on {| low := low s; high := Some a |} p
      && nonnegative_by {| low := a; high := high s |} others p
  end.

Lemma nonnegative_by_sound : forall cuts s p x,
  nonnegative_by s cuts p = true -> lies s x -> 0 <= eval p x.
Proof.
  induction cuts as [|a cuts IH]; intros s p x H Hx; simpl in H.
  - apply nonnegative_on_sound with s; assumption.
  - apply andb_prop in H; destruct H as [H H2]; apply andb_prop in H; destruct H as [H0 H1].
    apply Qle_bool_imp_le, Qle_Rle in H0; unfold lies in Hx.
    destruct (Rlt_dec x (Q2R a)) as [L|L].
    + apply nonnegative_on_sound with (1 := H1); unfold lies; simpl.
      destruct (high s) as [b|]; [|right; lra].
      destruct Hx as [[? ?]|?]; right; lra.
    + apply IH with (1 := H2); unfold lies; simpl.
      destruct (high s) as [b|]; [|lra].
      destruct Hx as [[? ?]|?]; [left; lra | right; lra].
Qed.

(** * Rational functions of G *)

(** num/(over base^power), where base is a polynomial that all of a regime share. *)
Record ratio := { num : poly; over : positive; power : nat }.

Definition below_line (base : poly) (r : ratio) : poly :=
  pscale (Zpos (over r)) (ppow base (power r)).
Definition value (base : poly) (r : ratio) (x : R) : R :=
  eval (num r) x / (IZR (Zpos (over r)) * eval base x ^ power r).

Definition number (q : Q) : ratio := {| num := [Qnum q]; over := Qden q; power := 0 |}.
Definition variable : ratio := {| num := [0; 1]%Z; over := 1; power := 0 |}.

Definition rmul (r s : ratio) : ratio :=
  {| num := pmul (num r) (num s); over := over r * over s; power := power r + power s |}.
Definition radd (base : poly) (r s : ratio) : ratio :=
  let k := Nat.max (power r) (power s) in
  let '(_, (of_r, of_s)) := Pos.ggcd (over r) (over s) in
  let raised t c := pscale (Zpos c) (pmul (ppow base (k - power t)) (num t)) in
  {| num := padd (raised r of_s) (raised s of_r); over := over r * of_s; power := k |}.
Definition rsub (base : poly) (r s : ratio) : ratio := radd base r (rmul (number (-1)) s).

Fixpoint times_itself (c : positive) (k : nat) : positive :=
  match k with O => 1%positive | S j => (c * times_itself c j)%positive end.

Lemma times_itself_is_power : forall c k, IZR (Zpos (times_itself c k)) = IZR (Zpos c) ^ k.
Proof.
  intros c k; induction k as [|k IH]; [reflexivity|]; cbn [times_itself pow].
  rewrite Pos2Z.inj_mul, mult_IZR, IH; reflexivity.
Qed.

(** p(r)/c. *)
Definition rpoly (base p : poly) (c : positive) (r : ratio) : ratio :=
  {| num := fst (at_quotient p (num r) (below_line base r));
     over := c * times_itself (over r) (length p);
     power := power r * length p |}.

Section Ratios.
  Variables (base : poly) (x : R).
  Hypothesis base_ : 0 < eval base x.

  Lemma positive_integer : forall c, 0 < IZR (Zpos c).
  Proof. intro c; apply IZR_lt; reflexivity. Qed.

  Lemma below_positive : forall c k, 0 < IZR (Zpos c) * eval base x ^ k.
  Proof.
    intros c k; apply Rmult_lt_0_compat; [apply positive_integer | apply pow_lt; assumption].
  Qed.

  Lemma value_nonnegative : forall r, 0 <= eval (num r) x -> 0 <= value base r x.
  Proof.
    intros r H; apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat, below_positive].
  Qed.

  Lemma value_number : forall q, value base (number q) x = Q2R q.
  Proof.
    intro q; unfold value, number, Q2R; cbn [num over power eval pow]; pose proof (positive_integer (Qden q)).
    field; lra.
  Qed.

  Lemma value_variable : value base variable x = x.
  Proof. unfold value, variable; cbn [num over power eval pow]; field. Qed.

  Lemma value_mul : forall r s, value base (rmul r s) x = value base r x * value base s x.
  Proof.
    intros r s; unfold value, rmul; cbn [num over power].
    rewrite eval_mul, Pos2Z.inj_mul, mult_IZR, pow_add.
    pose proof (positive_integer (over r)); pose proof (positive_integer (over s)).
    assert (eval base x ^ power r <> 0) by (apply pow_nonzero; lra).
    assert (eval base x ^ power s <> 0) by (apply pow_nonzero; lra).
    field; repeat split; lra.
  Qed.

  Lemma value_add : forall r s, value base (radd base r s) x = value base r x + value base s x.
  Proof.
    intros r s; unfold radd.
    pose proof (Pos.ggcd_correct_divisors (over r) (over s)) as D.
    destruct (Pos.ggcd (over r) (over s)) as [g [a c]]; destruct D as [Dr Ds].
    unfold value; cbn [num over power]; rewrite eval_add, !eval_scale, !eval_mul, !eval_pow.
    set (k := Nat.max (power r) (power s)).
    assert (A : eval base x ^ k = eval base x ^ (k - power r) * eval base x ^ power r)
      by (rewrite <- pow_add; f_equal; lia).
    assert (B : eval base x ^ k = eval base x ^ (k - power s) * eval base x ^ power s)
      by (rewrite <- pow_add; f_equal; lia).
    pose proof (positive_integer g); pose proof (positive_integer a); pose proof (positive_integer c).
    assert (P : forall j, eval base x ^ j <> 0) by (intro; apply pow_nonzero; lra).
    rewrite Dr, Ds, !Pos2Z.inj_mul, !mult_IZR.
    replace (eval (num r) x / (IZR (Zpos g) * IZR (Zpos a) * eval base x ^ power r))
      with (eval (num r) x * eval base x ^ (k - power r)
            / (IZR (Zpos g) * IZR (Zpos a) * eval base x ^ k))
      by (rewrite A; field; repeat split; (apply P || lra)).
    replace (eval (num s) x / (IZR (Zpos g) * IZR (Zpos c) * eval base x ^ power s))
      with (eval (num s) x * eval base x ^ (k - power s)
            / (IZR (Zpos g) * IZR (Zpos c) * eval base x ^ k))
      by (rewrite B; field; repeat split; (apply P || lra)).
    field; repeat split; (apply P || lra).
  Qed.

  Lemma value_sub : forall r s, value base (rsub base r s) x = value base r x - value base s x.
  Proof.
    intros r s; unfold rsub; rewrite value_add, value_mul, value_number.
    replace (Q2R (-1)) with (-1) by (unfold Q2R; simpl; field); ring.
  Qed.

  Lemma value_poly : forall p c r,
    value base (rpoly base p c r) x = eval p (value base r x) / IZR (Zpos c).
  Proof.
    intros p c r; unfold value at 1, rpoly; cbn [num over power].
    assert (E : eval (below_line base r) x = IZR (Zpos (over r)) * eval base x ^ power r)
      by (unfold below_line; rewrite eval_scale, eval_pow; reflexivity).
    pose proof (below_positive (over r) (power r)) as P.
    destruct (eval_at_quotient p (num r) (below_line base r) x) as [_ V]; [rewrite E; lra|].
    rewrite V, E; fold (value base r x).
    assert (T : IZR (Zpos (c * times_itself (over r) (length p))) * eval base x ^ (power r * length p)
                = IZR (Zpos c) * (IZR (Zpos (over r)) * eval base x ^ power r) ^ length p).
    { rewrite Pos2Z.inj_mul, mult_IZR, times_itself_is_power, Rpow_mult_distr, pow_mult; ring. }
    rewrite T; pose proof (positive_integer c).
    assert ((IZR (Zpos (over r)) * eval base x ^ power r) ^ length p <> 0) by (apply pow_nonzero; lra).
    field; split; [lra | assumption].
  Qed.
End Ratios.
