(* What a certificate of certibit says, and a check of it that the kernel of Rocq runs. *)

From Coq Require Import QArith Qreals Reals Lra Lia List Bool.
Import ListNotations.
Local Open Scope R_scope.

(** * Forms in unknown vectors, and what they mean *)

(** Combinations of unknown vectors, by block and unknown. *)
Definition vector := nat -> nat -> Q.
Definition read (entries : list (list Q)) : vector := fun b i => nth i (nth b entries []) 0%Q.
Definition combine (u : vector) (c : Q) (v : vector) : vector :=
  fun b i => Qred (u b i + c * v b i)%Q.

(** A quadratic form, by block, row and column, plus a combination of function values. *)
Record form := { quadratic : nat -> nat -> nat -> Q; linear : nat -> Q }.

Definition zero : form := {| quadratic _ _ _ := 0%Q; linear _ := 0%Q |}.
Definition plus (f g : form) : form :=
  {| quadratic b i j := Qred (quadratic f b i j + quadratic g b i j)%Q;
     linear m := Qred (linear f m + linear g m)%Q |}.
Definition times (c : Q) (f : form) : form :=
  {| quadratic b i j := (c * quadratic f b i j)%Q; linear m := (c * linear f m)%Q |}.
Definition total (terms : list (Q * form)) : form :=
  fold_right (fun t f => plus (times (fst t) (snd t)) f) zero terms.

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => sum m f + f m end.

Fixpoint all (n : nat) (p : nat -> bool) : bool :=
  match n with O => true | S m => all m p && p m end.

Section Meaning.
  (** The number of unknowns of each block, and of function values. *)
  Variable sizes : list nat.
  Variable known : nat.
  (** The inner products of the unknowns of a block, and the function values. In block 0 they are
      those of vectors that all clients share, such as means over a class, in block c + 1 those of
      what sums to 0 over class c, summed over its clients. *)
  Variable inner : nat -> nat -> nat -> R.
  Variable value : nat -> R.

  Definition meaning (f : form) : R :=
    sum (length sizes) (fun b => sum (nth b sizes O) (fun i => sum (nth b sizes O) (fun j =>
      Q2R (quadratic f b i j) * inner b i j)))
    + sum known (fun m => Q2R (linear f m) * value m).

  (** [f] and [g] have the same entries. *)
  Definition same (f g : form) : bool :=
    all (length sizes) (fun b => all (nth b sizes O) (fun i => all (nth b sizes O) (fun j =>
      Qeq_bool (quadratic f b i j) (quadratic g b i j))))
    && all known (fun m => Qeq_bool (linear f m) (linear g m)).

  Lemma sum_equal : forall n f g, (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
  Proof.
    induction n as [|n IH]; intros f g H; simpl; [reflexivity|].
    rewrite (IH f g), (H n); [reflexivity| lia | intros i Hi; apply H; lia].
  Qed.

  Lemma sum_plus : forall n f g, sum n (fun i => f i + g i) = sum n f + sum n g.
  Proof. induction n as [|n IH]; intros f g; simpl; [ring | rewrite IH; ring]. Qed.

  Lemma sum_times : forall n c f, sum n (fun i => c * f i) = c * sum n f.
  Proof. induction n as [|n IH]; intros c f; simpl; [ring | rewrite IH; ring]. Qed.

  Lemma all_true : forall n p, all n p = true -> forall i, (i < n)%nat -> p i = true.
  Proof.
    induction n as [|n IH]; intros p H i Hi; [lia|].
    simpl in H; apply andb_prop in H; destruct H as [H1 H2].
    destruct (PeanoNat.Nat.eq_dec i n) as [->|]; [assumption | apply IH; [assumption|lia]].
  Qed.

  Lemma meaning_plus : forall f g, meaning (plus f g) = meaning f + meaning g.
  Proof.
    intros f g; unfold meaning, plus; cbn [quadratic linear].
    transitivity
      (sum (length sizes) (fun b => sum (nth b sizes O) (fun i => sum (nth b sizes O) (fun j =>
         Q2R (quadratic f b i j) * inner b i j)))
       + sum (length sizes) (fun b => sum (nth b sizes O) (fun i => sum (nth b sizes O) (fun j =>
         Q2R (quadratic g b i j) * inner b i j)))
       + (sum known (fun m => Q2R (linear f m) * value m)
       + sum known (fun m => Q2R (linear g m) * value m))); [|ring].
    f_equal.
    - rewrite <- sum_plus; apply sum_equal; intros b _.
      rewrite <- sum_plus; apply sum_equal; intros i _.
      rewrite <- sum_plus; apply sum_equal; intros j _.
      rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus; ring.
    - rewrite <- sum_plus; apply sum_equal; intros m _.
      rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus; ring.
  Qed.

  Lemma meaning_times : forall c f, meaning (times c f) = Q2R c * meaning f.
  Proof.
    intros c f; unfold meaning, times; cbn [quadratic linear]; rewrite Rmult_plus_distr_l; f_equal.
    - rewrite <- sum_times; apply sum_equal; intros b _.
      rewrite <- sum_times; apply sum_equal; intros i _.
      rewrite <- sum_times; apply sum_equal; intros j _.
      rewrite Q2R_mult; ring.
    - rewrite <- sum_times; apply sum_equal; intros m _.
      rewrite Q2R_mult; ring.
  Qed.

  Lemma meaning_zero : meaning zero = 0.
  Proof.
    assert (H : meaning zero = meaning (times 0 zero)).
    { unfold meaning; simpl; reflexivity. }
    rewrite H, meaning_times, RMicromega.Q2R_0; ring.
  Qed.

  Lemma meaning_same : forall f g, same f g = true -> meaning f = meaning g.
  Proof.
    intros f g H; apply andb_prop in H; destruct H as [H1 H2]; unfold meaning; f_equal.
    - apply sum_equal; intros b Hb; apply sum_equal; intros i Hi; apply sum_equal; intros j Hj.
      apply all_true with (i := b) in H1; [|assumption].
      apply all_true with (i := i) in H1; [|assumption].
      apply all_true with (i := j) in H1; [|assumption].
      rewrite (Qeq_eqR _ _ (Qeq_bool_eq _ _ H1)); reflexivity.
    - apply sum_equal; intros m Hm; apply all_true with (i := m) in H2; [|assumption].
      rewrite (Qeq_eqR _ _ (Qeq_bool_eq _ _ H2)); reflexivity.
  Qed.

  (** A form is at least 0 if it is a sum of multiples, none negative, of what is at least 0. *)
  Lemma nonnegative : forall f terms,
    same f (total terms) = true ->
    forallb (fun t => Qle_bool 0 (fst t)) terms = true ->
    (forall t, In t terms -> 0 <= meaning (snd t)) ->
    0 <= meaning f.
  Proof.
    intros f terms E P H; rewrite (meaning_same _ _ E); clear E.
    induction terms as [|t terms IH]; simpl; [rewrite meaning_zero; lra|].
    simpl in P; apply andb_prop in P; destruct P as [Pt P].
    rewrite meaning_plus, meaning_times.
    apply Rplus_le_le_0_compat; [|apply IH; [assumption | intros; apply H; right; assumption]].
    apply Rmult_le_pos; [|apply H; left; reflexivity].
    rewrite <- RMicromega.Q2R_0; apply Qle_Rle, Qle_bool_imp_le; assumption.
  Qed.

  Lemma sum_nonnegative : forall n f, (forall i, 0 <= f i) -> 0 <= sum n f.
  Proof.
    induction n as [|n IH]; intros f H; simpl; [lra | apply Rplus_le_le_0_compat; auto].
  Qed.

  Lemma value_alone : forall m, (forall k, 0 <= value k) ->
    0 <= meaning {| quadratic _ _ _ := 0%Q; linear k := if Nat.eqb m k then 1%Q else 0%Q |}.
  Proof.
    intros m H; unfold meaning; cbn [quadratic linear].
    apply Rplus_le_le_0_compat.
    - apply sum_nonnegative; intro b; apply sum_nonnegative; intro i.
      apply sum_nonnegative; intro j; rewrite RMicromega.Q2R_0; lra.
    - apply sum_nonnegative; intro k; specialize (H k).
      destruct (Nat.eqb m k); unfold Q2R; simpl; lra.
  Qed.
End Meaning.

(** * Clients, functions and compressors *)

(** A point at which a function of a class is evaluated, the gradient there, both as deviations from
    the solution, and the function values that count there: one, or none at the solution. *)
Record evaluation := { class : nat; point : vector; gradient : vector; values : list nat }.

(** Functions of a class are [mu]-strongly convex and [L]-smooth. *)
Record constants := { mu : Q; L : Q }.

(** Two vectors of which the second is shorter, |short|^2 <= kept |long|^2 in the mean. They are

    - v and the error C(v) - v of a contractive compressor, [kept] being 1 - alpha, or
    - the gradients before and after local gradient steps, [kept] being no less than
      max{|1 - s a|, |1 - s b|}^(2 k) for k steps of size s and curvatures between a and b. *)
Record shortened := { of_class : nat; long : vector; short : vector; kept : Q }.

Section Model.
  (** The number of clients of each class, and the constants of the classes. *)
  Variable counts : list nat.
  Variable classes : list constants.

  Definition clients : Q := inject_Z (Z.of_nat (list_sum counts)).

  (** How often a block counts in the mean over all clients of what those of a class have: the
      block 0 is that of the vectors that are the same for all of the class, the others are those
      of zero sum over the classes 0, 1, ... *)
  Definition share (k b : nat) : Q :=
    match b with
    | O => inject_Z (Z.of_nat (nth k counts (list_sum counts))) / clients
    | S c => if Nat.eqb c k then 1 / clients else 0
    end.

  (** The mean over all clients of <u_i, v_i> for the clients i of class [k], of 0 for others. *)
  Definition product (k : nat) (u v : vector) : form :=
    {| quadratic b i j := Qred (share k b * (u b i * v b j + u b j * v b i) / 2)%Q;
       linear _ := 0%Q |}.

  (** The function values at an evaluation, with a factor. *)
  Definition worth (c : Q) (e : evaluation) : form :=
    {| quadratic _ _ _ := 0%Q;
       linear m := if existsb (Nat.eqb m) (values e) then c else 0%Q |}.

  (** The inequality between two evaluations of a function, which is at least 0 for every
      mu-strongly convex and L-smooth one, with h(x) = f(x) - (mu/2) |x - x*|^2 and gradients
      u and v of h at a and b:

        h(a) - h(b) - <v, a - b> - |u - v|^2 / (2 (L - mu)).

      Source: Taylor, Hendrickx, Glineur, arXiv:1502.05666, Theorem 4. *)
  Definition interpolation (a b : evaluation) : form :=
    let c := nth (class a) classes {| mu := 0; L := 1 |} in
    let u := combine (gradient a) (- mu c) (point a) in
    let v := combine (gradient b) (- mu c) (point b) in
    let apart := combine (point a) (-1) (point b) in
    let turned := combine u (-1) v in
    total [(1%Q, worth 1 a); (1%Q, worth (-1) b);
           ((-1)%Q, product (class a) v apart);
           ((- (1 / (2 * (L c - mu c))))%Q, product (class a) turned turned)].

  (** kept |long|^2 - |short|^2, at least 0 in the mean. *)
  Definition contraction (s : shortened) : form :=
    total [(kept s, product (of_class s) (long s) (long s));
           ((-1)%Q, product (of_class s) (short s) (short s))].
End Model.

(** The square of a combination of the unknowns of a block. *)
Definition square (b : nat) (l : list Q) : form :=
  {| quadratic b' i j := if Nat.eqb b b' then (nth i l 0 * nth j l 0)%Q else 0%Q;
     linear _ := 0%Q |}.

(** A form that is given by the entries of its blocks and its coefficients of function values. *)
Definition given (blocks : list (list (list Q))) (coefficients : list Q) : form :=
  {| quadratic b i j := nth j (nth i (nth b blocks []) []) 0%Q;
     linear m := nth m coefficients 0%Q |}.

(** * What is claimed of one step, and how it is proved *)

(** One step of a method on unknown vectors. *)
Record step := {
  sizes : list nat;                  (* the number of unknowns of each block *)
  counts : list nat;                 (* the number of clients of each class *)
  classes : list constants;          (* of the clients, of g and the server, of the average *)
  evaluations : list evaluation;     (* where gradients are evaluated, and the solution *)
  contracting : list shortened;      (* by compressors and local steps *)
  known : nat;                       (* the number of function values *)
  psi : form;                        (* Psi *)
  after : form                       (* a bound of E[Psi+] *)
}.

(** Assume that

    - [inner b i j] are inner products, of the unknowns of a block: squares are at least 0,
    - function values are at least 0, as f(x) - f* - (mu/2) |x - x*|^2 is,
    - the interpolation inequality holds between all evaluations of one class,
    - contractive compressors and local gradient steps shorten vectors as it is said of them,
    - E[Psi+] is at most the form [after].

    Then Psi is at least 0, and E[Psi+] <= (1 - decrease) Psi. *)
Definition contracts (s : step) (decrease : Q) : Prop :=
  forall (inner : nat -> nat -> nat -> R) (value : nat -> R) (expected : R),
  let meaning := meaning (sizes s) (known s) inner value in
  (forall b l, 0 <= meaning (square b l)) ->
  (forall m, 0 <= value m) ->
  (forall a b, In a (evaluations s) -> In b (evaluations s) -> class a = class b ->
    0 <= meaning (interpolation (counts s) (classes s) a b)) ->
  (forall c, In c (contracting s) -> 0 <= meaning (contraction (counts s) c)) ->
  expected <= meaning (after s) ->
  0 <= meaning (psi s) /\ expected <= (1 - Q2R decrease) * meaning (psi s).

(** What proves it: how often each inequality is added, by the numbers of the evaluations or of
    what contracts, and the squares whose sum is left, and is Psi. *)
Record multipliers := {
  interpolations : list (Q * (nat * nat));
  contractions : list (Q * nat);
  left_over : list (Q * (nat * list Q));
  squares_of_psi : list (Q * (nat * list Q))
}.

Section Check.
  Variable s : step.
  Variable decrease : Q.
  Variable y : multipliers.

  Definition nowhere : vector := fun _ _ => 0%Q.
  Definition at_place (a : nat) : evaluation :=
    nth a (evaluations s) {| class := 0; point := nowhere; gradient := nowhere; values := [] |}.
  Definition shortened_as (c : nat) : shortened :=
    nth c (contracting s) {| of_class := 0; long := nowhere; short := nowhere; kept := 0 |}.

  Definition interpolated (t : Q * (nat * nat)) : Q * form :=
    (fst t, interpolation (counts s) (classes s) (at_place (fst (snd t))) (at_place (snd (snd t)))).
  Definition contracted (t : Q * nat) : Q * form :=
    (fst t, contraction (counts s) (shortened_as (snd t))).
  Definition squared (t : Q * (nat * list Q)) : Q * form :=
    (fst t, square (fst (snd t)) (snd (snd t))).
  Definition function_value (m : nat) : Q * form :=
    (linear (psi s) m,
     {| quadratic _ _ _ := 0%Q; linear k := if Nat.eqb m k then 1%Q else 0%Q |}).

  Definition terms : list (Q * form) :=
    map interpolated (interpolations y) ++ map contracted (contractions y)
    ++ map squared (left_over y).
  Definition terms_of_psi : list (Q * form) :=
    map squared (squares_of_psi y) ++ map function_value (seq 0 (known s)).

  Definition there (t : Q * (nat * nat)) : bool :=
    let (a, b) := snd t in
    Nat.ltb a (length (evaluations s)) && Nat.ltb b (length (evaluations s))
    && Nat.eqb (class (at_place a)) (class (at_place b)).

  Definition check : bool :=
    forallb there (interpolations y)
    && forallb (fun t => Nat.ltb (snd t) (length (contracting s))) (contractions y)
    && forallb (fun t => Qle_bool 0 (fst t)) terms_of_psi
    && forallb (fun t => Qle_bool 0 (fst t)) terms
    && same (sizes s) (known s) (psi s) (total terms_of_psi)
    && same (sizes s) (known s)
         (plus (times (1 - decrease) (psi s)) (times (-1) (after s))) (total terms).

  Theorem sound : check = true -> contracts s decrease.
  Proof.
    unfold check; intro H.
    repeat (apply andb_prop in H; destruct H as [H ?]).
    intros inner value expected meaning Squares Values Interpolation Contraction Expected.
    assert (P : 0 <= meaning (psi s)).
    { apply nonnegative with (terms := terms_of_psi); [assumption | assumption |].
      intros t Ht; unfold terms_of_psi in Ht; apply in_app_or in Ht.
      destruct Ht as [Ht|Ht]; apply in_map_iff in Ht; destruct Ht as [x [<- Hx]]; simpl.
      - apply Squares.
      - apply value_alone; assumption. }
    split; [exact P|].
    assert (D : 0 <= meaning (plus (times (1 - decrease) (psi s)) (times (-1) (after s)))).
    { apply nonnegative with (terms := terms); [assumption | assumption |].
      intros t Ht; unfold terms in Ht.
      apply in_app_or in Ht; destruct Ht as [Ht|Ht]; [|apply in_app_or in Ht; destruct Ht as [Ht|Ht]];
        apply in_map_iff in Ht; destruct Ht as [x [<- Hx]]; cbn [snd interpolated contracted squared].
      - match goal with U : forallb there _ = true |- _ =>
          rewrite forallb_forall in U; specialize (U x Hx); unfold there in U end.
        destruct x as [q [a b]]; cbn [fst snd] in *.
        repeat match goal with U : _ && _ = true |- _ =>
          apply andb_prop in U; destruct U end.
        apply Interpolation;
          [apply nth_In, PeanoNat.Nat.ltb_lt; assumption
          |apply nth_In, PeanoNat.Nat.ltb_lt; assumption
          |apply PeanoNat.Nat.eqb_eq; assumption].
      - match goal with U : forallb _ (contractions y) = true |- _ =>
          rewrite forallb_forall in U; specialize (U x Hx) end.
        apply Contraction, nth_In, PeanoNat.Nat.ltb_lt; assumption.
      - apply Squares. }
    unfold meaning in *; rewrite meaning_plus, !meaning_times in D.
    rewrite Q2R_minus in D.
    replace (Q2R 1) with 1 in D by (unfold Q2R; simpl; lra).
    replace (Q2R (-1)) with (-1) in D by (unfold Q2R; simpl; lra).
    lra.
  Qed.
End Check.
