(* The claim of a certificate, and a check of it that the kernel of Rocq runs. *)

From Coq Require Import QArith Qreals List Bool.
From Certibit Require Import Sums.
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
    - rewrite <- sum_plus; apply sum_ext; intros b _.
      rewrite <- sum_plus; apply sum_ext; intros i _.
      rewrite <- sum_plus; apply sum_ext; intros j _.
      rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus; ring.
    - rewrite <- sum_plus; apply sum_ext; intros m _.
      rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus; ring.
  Qed.

  Lemma meaning_times : forall c f, meaning (times c f) = Q2R c * meaning f.
  Proof.
    intros c f; unfold meaning, times; cbn [quadratic linear]; rewrite Rmult_plus_distr_l; f_equal.
    - rewrite <- sum_scal; apply sum_ext; intros b _.
      rewrite <- sum_scal; apply sum_ext; intros i _.
      rewrite <- sum_scal; apply sum_ext; intros j _.
      rewrite Q2R_mult; ring.
    - rewrite <- sum_scal; apply sum_ext; intros m _.
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
    - apply sum_ext; intros b Hb; apply sum_ext; intros i Hi; apply sum_ext; intros j Hj.
      apply all_true with (i := b) in H1; [|assumption].
      apply all_true with (i := i) in H1; [|assumption].
      apply all_true with (i := j) in H1; [|assumption].
      rewrite (Qeq_eqR _ _ (Qeq_bool_eq _ _ H1)); reflexivity.
    - apply sum_ext; intros m Hm; apply all_true with (i := m) in H2; [|assumption].
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
End Meaning.

(** * Clients, functions and compressors *)

(** A point at which a function of a class is evaluated, the gradient there, both as deviations from
    the solution, and the function values that count there: one, or none at the solution. *)
Record evaluation := { class : nat; point : vector; gradient : vector; values : list nat }.

(** Functions of a class are [mu]-strongly convex and [L]-smooth. *)
Record constants := { mu : Q; L : Q }.

Section Model.
  (** The number of clients of each class. *)
  Variable counts : list nat.

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

End Model.

(** The square of a combination of the unknowns of a block. *)
Definition square (b : nat) (l : list Q) : form :=
  {| quadratic b' i j := if Nat.eqb b b' then (nth i l 0 * nth j l 0)%Q else 0%Q;
     linear _ := 0%Q |}.

(** A form that is given by the entries of its blocks and its coefficients of function values. *)
Definition given (blocks : list (list (list Q))) (coefficients : list Q) : form :=
  {| quadratic b i j := nth j (nth i (nth b blocks []) []) 0%Q;
     linear m := nth m coefficients 0%Q |}.

(** * What is known of one step beside the forms of its functions *)

(** A message of the clients of a class, or of the server: the vector that is sent, what is lost of
    it, and [most], with |loss|^2 <= most |sent|^2 in the mean: 1 - alpha for a contraction, omega
    for the noise of an unbiased compressor, l^2 for the change of the noise of one sample between
    two points, whose difference stands for what is sent. Local gradient steps shorten gradients so,
    too: [most] is no less than max{|1 - s a|, |1 - s b|}^(2 k) for k steps of size s and curvatures
    between a and b. For a sampled gradient it is the relative
    part of the variance, |loss|^2 <= sigma^2 + most |gradient|^2. *)
Record message := { of_clients : nat; sent : vector; loss : vector; most : Q }.

(** What is at least 0, or 0, in the mean. Gradients of all clients at a point are given by the
    numbers of the evaluations, one of each class. *)
Inductive fact :=
  | interpolates (a b : nat)
      (* f(x) - f(y) - <v, x - y> - (mu/2) |x - y|^2 - |u - v - mu (x - y)|^2/(2 (L - mu)) >= 0
         for a function of a class, with gradients u at x and v at y *)
  | shortens (m : nat)                      (* most |sent|^2 - |loss|^2 >= 0 *)
  | samples (m : nat)                       (* sigma^2 + most |sent|^2 - |loss|^2 >= 0 *)
  | samples_at (m : nat) (A : Q) (at_ : list nat)
      (* sigma^2 + most |sent|^2 + 2 A (f(x) - f* ) - |loss|^2 >= 0 *)
  | jointly (m : nat) (omega : Q)           (* omega mean |sent_i|^2 - |mean loss|^2 >= 0 *)
  | infimum (L : Q) (at_ : list nat)        (* f(x) - f* - |grad f(x)|^2/(2 L) >= 0 *)
  | gradual (mu : Q) (at_ : list nat)       (* |grad f(x)|^2 - 2 mu (f(x) - f* ) >= 0 *)
  | dissimilar (B t : Q) (at_ : list nat)
      (* t^2 zeta^2 + B^2 |grad f(x)|^2 - mean |grad f_i(x)|^2 >= 0 *)
  | changes (m : nat) (A : Q) (at_ : list nat)
      (* 2 A (f(x) - f* ) - |loss|^2 >= 0 for the change of the noise of a sample from the solution *)
  | changes_between (m other : nat) (A : Q) (x y : list nat)
      (* 2 A (f(x) - f(y) - <grad f(y), x - y>) - |loss - other loss|^2 >= 0 *)
  | quasi_convex (mu : Q) (at_ : list nat)  (* <grad f(x), x> - (f(x) - f* ) - (mu/2) |x|^2 >= 0 *)
  | mean_smooth (L : Q) (x y : list nat)    (* L^2 |x - y|^2 - mean |change of grad f_i|^2 >= 0 *)
  | similar (delta : Q) (x y : list nat)    (* the same of grad f_i - grad f *)
  | orthogonal (m b : nat) (v : list Q)
      (* <loss, v> = 0 in a block, for what was known before the noise was drawn *)
  | independent (m : nat)                   (* sum |loss_i|^2 - |sum loss_i|^2 = 0 *)
  | together (m other : nat).               (* the same of <loss, other loss> of one sample *)

(** One step of a method on unknown vectors. The last of the values are sigma^2 and zeta^2, where zeta
    is any number that bounds how much clients differ. *)
Record descent_step := {
  sizes_ : list nat;
  counts_ : list nat;
  classes_ : list constants;
  evaluations_ : list evaluation;
  messages_ : list message;
  values_ : nat;                    (* the number of values *)
  facts_ : list fact;               (* of what is at least 0 *)
  moments_ : list fact;             (* of what is 0 *)
  psi_ : form;
  after_ : form;                    (* a bound of E[Psi+] *)
  growth_ : Q;                      (* the part of itself by which Psi may grow *)
  measured_ : form;                 (* M *)
  rest_ : form;                     (* Psi at the state at rest about x *)
  distance_ : form                  (* |x - x*|^2, where there is a solution *)
}.

(** The multiple c of a value. *)
Definition scalar (k : nat) (c : Q) : form :=
  {| quadratic _ _ _ := 0%Q; linear j := if Nat.eqb k j then c else 0%Q |}.

Definition sigma_of (s : descent_step) : nat := pred (pred (values_ s)).
Definition zeta_of (s : descent_step) : nat := pred (values_ s).

Section Facts.
  Variable counts : list nat.
  Variable classes : list constants.
  Variable evaluations : list evaluation.
  Variable messages : list message.
  Variables sigma zeta : nat.

  (** The number of the class of all clients. *)
  Definition everyone : nat := length counts.

  Definition at_evaluation (a : nat) : evaluation :=
    nth a evaluations {| class := 0; point := fun _ _ => 0%Q; gradient := fun _ _ => 0%Q;
                         values := [] |}.
  Definition message_of (m : nat) : message :=
    nth m messages {| of_clients := 0; sent := fun _ _ => 0%Q; loss := fun _ _ => 0%Q; most := 0 |}.

  (** The mean over all clients of |v_i|^2, and the mean of the v_i, by class. *)
  Definition mean_square (own : list (nat * vector)) : form :=
    total (map (fun kv => (1%Q, product counts (fst kv) (snd kv) (snd kv))) own).
  Definition mean_of (own : list (nat * vector)) : vector := fun b i =>
    match b with
    | O => fold_right (fun kv s => Qred (share counts (fst kv) O * snd kv O i + s)%Q) 0%Q own
    | _ => 0%Q
    end.

  Definition gradients (at_ : list nat) : list (nat * vector) :=
    map (fun a => (class (at_evaluation a), gradient (at_evaluation a))) at_.
  Definition place (at_ : list nat) : vector := point (at_evaluation (hd O at_)).
  Definition slope (at_ : list nat) : vector := mean_of (gradients at_).
  Definition gap (at_ : list nat) : form :=
    total (map (fun a => (1%Q, worth 1 (at_evaluation a))) at_).
  Definition alone (v : vector) : form := product counts everyone v v.
  Definition change (x y : list nat) (less : vector) : list (nat * vector) :=
    map (fun p => (fst (fst p), combine (combine (snd (fst p)) (-1) (snd (snd p))) (-1) less))
      (List.combine (gradients x) (gradients y)).

  Definition variance (c : Q) : form := scalar sigma c.

  Definition form_of (f : fact) : form :=
    match f with
    | interpolates a b =>
        let x := at_evaluation a in
        let y := at_evaluation b in
        let k := class x in
        let c := nth k classes {| mu := 0; L := 1 |} in
        let apart := combine (point x) (-1) (point y) in
        let turned := combine (combine (gradient x) (-1) (gradient y)) (- mu c) apart in
        total [(1%Q, worth 1 x); (1%Q, worth (-1) y);
               ((-1)%Q, product counts k (gradient y) apart);
               ((- (mu c / 2))%Q, product counts k apart apart);
               ((- (1 / (2 * (L c - mu c))))%Q, product counts k turned turned)]
    | shortens m =>
        let w := message_of m in
        total [(most w, product counts (of_clients w) (sent w) (sent w));
               ((-1)%Q, product counts (of_clients w) (loss w) (loss w))]
    | samples m =>
        let w := message_of m in
        total [(1%Q, variance (share counts (of_clients w) O));
               (most w, product counts (of_clients w) (sent w) (sent w));
               ((-1)%Q, product counts (of_clients w) (loss w) (loss w))]
    | samples_at m A at_ =>
        let w := message_of m in
        total [(1%Q, variance (share counts (of_clients w) O));
               (most w, product counts (of_clients w) (sent w) (sent w));
               ((2 * A)%Q, gap at_);
               ((-1)%Q, product counts (of_clients w) (loss w) (loss w))]
    | jointly m omega =>
        let w := message_of m in
        total [(omega, product counts (of_clients w) (sent w) (sent w));
               ((-1)%Q, alone (mean_of [(of_clients w, loss w)]))]
    | infimum L at_ => total [(1%Q, gap at_); ((- (1 / (2 * L)))%Q, alone (slope at_))]
    | gradual mu at_ => total [(1%Q, alone (slope at_)); ((- (2 * mu))%Q, gap at_)]
    | dissimilar B t at_ =>
        total [(1%Q, scalar zeta (t * t)); ((B * B)%Q, alone (slope at_));
               ((-1)%Q, mean_square (gradients at_))]
    | changes m A at_ =>
        let w := message_of m in
        total [((2 * A)%Q, gap at_); ((-1)%Q, product counts (of_clients w) (loss w) (loss w))]
    | changes_between m other A x y =>
        let w := message_of m in
        let apart := combine (loss w) (-1) (loss (message_of other)) in
        total [((2 * A)%Q, gap x); ((- (2 * A))%Q, gap y);
               ((- (2 * A))%Q,
                product counts everyone (slope y) (combine (place x) (-1) (place y)));
               ((-1)%Q, product counts (of_clients w) apart apart)]
    | quasi_convex mu at_ =>
        total [(1%Q, product counts everyone (slope at_) (place at_)); ((-1)%Q, gap at_);
               ((- (mu / 2))%Q, alone (place at_))]
    | mean_smooth L x y =>
        total [((L * L)%Q, alone (combine (place x) (-1) (place y)));
               ((-1)%Q, mean_square (change x y (fun _ _ => 0%Q)))]
    | similar delta x y =>
        total [((delta * delta)%Q, alone (combine (place x) (-1) (place y)));
               ((-1)%Q, mean_square (change x y (combine (slope x) (-1) (slope y))))]
    | orthogonal m b v =>
        {| quadratic b' i j :=
             if Nat.eqb b b'
             then ((loss (message_of m) b i * nth j v 0 + loss (message_of m) b j * nth i v 0) / 2)%Q
             else 0%Q;
           linear _ := 0%Q |}
    | independent m =>
        let w := message_of m in
        let n := inject_Z (Z.of_nat (nth (of_clients w) counts 1%nat)) in
        {| quadratic b i j :=
             match b with
             | O => ((n - n * n) * (loss w O i * loss w O j))%Q
             | S c => if Nat.eqb c (of_clients w) then (loss w b i * loss w b j)%Q else 0%Q
             end;
           linear _ := 0%Q |}
    | together m other =>
        let w := message_of m in
        let v := message_of other in
        let n := inject_Z (Z.of_nat (nth (of_clients w) counts 1%nat)) in
        let both b i j := ((loss w b i * loss v b j + loss w b j * loss v b i) / 2)%Q in
        {| quadratic b i j :=
             match b with
             | O => ((n - n * n) * both O i j)%Q
             | S c => if Nat.eqb c (of_clients w) then both b i j else 0%Q
             end;
           linear _ := 0%Q |}
    end.
End Facts.

Definition form_in (s : descent_step) : fact -> form :=
  form_of (counts_ s) (classes_ s) (evaluations_ s) (messages_ s) (sigma_of s) (zeta_of s).

(** Assume that

    - [inner b i j] are inner products, of the unknowns of a block: squares are at least 0,
    - the facts hold in the mean,
    - E[Psi+] is at most the form [after_].

    Then Psi is at least 0, E[Psi+] <= (1 + growth) Psi - c M + e sigma^2 + d zeta^2, and where there
    is a solution Psi at the state at rest about x is at most |x - x*|^2. *)
Definition descends (s : descent_step) (c e d : Q) : Prop :=
  forall (inner : nat -> nat -> nat -> R) (value : nat -> R) (expected : R),
  let meaning := meaning (sizes_ s) (values_ s) inner value in
  (forall b l, 0 <= meaning (square b l)) ->
  (forall f, In f (facts_ s) -> 0 <= meaning (form_in s f)) ->
  (forall f, In f (moments_ s) -> meaning (form_in s f) = 0) ->
  expected <= meaning (after_ s) ->
  0 <= meaning (psi_ s)
  /\ expected <= Q2R (1 + growth_ s) * meaning (psi_ s) - Q2R c * meaning (measured_ s)
       + Q2R e * meaning (scalar (sigma_of s) 1) + Q2R d * meaning (scalar (zeta_of s) 1)
  /\ meaning (rest_ s) <= meaning (distance_ s).

(** What proves it: multiples of facts by their numbers, and squares, of the descent, of Psi, and of
    |x - x*|^2 less Psi at the start; and the multiples of moments, of any sign. *)
Record descent_proof := {
  used : list (Q * nat);
  free : list (Q * nat);
  left_squares : list (Q * (nat * list Q));
  used_below : list (Q * nat);
  psi_squares : list (Q * (nat * list Q));
  used_at_start : list (Q * nat);
  start_squares : list (Q * (nat * list Q))
}.

Section CheckDescent.
  Variable s : descent_step.
  Variables c e d : Q.
  Variable y : descent_proof.

  Definition nothing_known : fact := independent 0.
  Definition as_fact (t : Q * nat) : Q * form := (fst t, form_in s (nth (snd t) (facts_ s) nothing_known)).
  Definition as_moment (t : Q * nat) : Q * form :=
    (1%Q, times (fst t) (form_in s (nth (snd t) (moments_ s) nothing_known))).
  Definition as_square (t : Q * (nat * list Q)) : Q * form :=
    (fst t, square (fst (snd t)) (snd (snd t))).

  Definition sum_of_facts (own : list (Q * nat)) (moments : list (Q * nat))
      (squares : list (Q * (nat * list Q))) : list (Q * form) :=
    map as_fact own ++ map as_moment moments ++ map as_square squares.

  Definition less (f g : form) : form := plus f (times (-1) g).

  Definition left : form :=
    plus (less (times (1 + growth_ s) (psi_ s)) (after_ s))
         (plus (times (- c) (measured_ s))
               (plus (times e (scalar (sigma_of s) 1)) (times d (scalar (zeta_of s) 1)))).

  Definition proves (f : form) (own moments : list (Q * nat))
      (squares : list (Q * (nat * list Q))) : bool :=
    forallb (fun t => Nat.ltb (snd t) (length (facts_ s))) own
    && forallb (fun t => Nat.ltb (snd t) (length (moments_ s))) moments
    && forallb (fun t => Qle_bool 0 (fst t)) (sum_of_facts own moments squares)
    && same (sizes_ s) (values_ s) f (total (sum_of_facts own moments squares)).

  Definition check_proof : bool :=
    proves left (used y) (free y) (left_squares y)
    && proves (psi_ s) (used_below y) [] (psi_squares y)
    && proves (less (distance_ s) (rest_ s)) (used_at_start y) [] (start_squares y).

  Theorem descent_sound : check_proof = true -> descends s c e d.
  Proof.
    unfold check_proof; intro H.
    apply andb_prop in H; destruct H as [H Start]; apply andb_prop in H; destruct H as [H Below].
    intros inner value expected meaning Squares Facts Moments Expected.
    assert (P : forall f own moments squares, proves f own moments squares = true ->
      0 <= meaning f).
    { intros f own moments squares U; unfold proves in U.
      repeat (apply andb_prop in U; destruct U as [U ?]).
      apply nonnegative with (terms := sum_of_facts own moments squares); [assumption|assumption|].
      intros t Ht; unfold sum_of_facts in Ht.
      apply in_app_or in Ht; destruct Ht as [Ht|Ht];
        [|apply in_app_or in Ht; destruct Ht as [Ht|Ht]];
        apply in_map_iff in Ht; destruct Ht as [x [<- Hx]];
        cbn [snd as_fact as_moment as_square].
      - apply Facts, nth_In, PeanoNat.Nat.ltb_lt.
        rewrite forallb_forall in U; apply (U x Hx).
      - unfold meaning; rewrite meaning_times; fold meaning.
        rewrite Moments; [rewrite Rmult_0_r; apply Rle_refl|].
        apply nth_In, PeanoNat.Nat.ltb_lt.
        match goal with V : forallb _ moments = true |- _ =>
          rewrite forallb_forall in V; apply (V x Hx) end.
      - apply Squares. }
    split; [eapply P; eassumption|].
    assert (D : 0 <= meaning left) by (eapply P; eassumption).
    assert (S : 0 <= meaning (less (distance_ s) (rest_ s))) by (eapply P; eassumption).
    unfold left, less in D, S; unfold meaning in *.
    repeat rewrite meaning_plus in D; repeat rewrite meaning_times in D; rewrite Q2R_opp in D.
    rewrite meaning_plus, meaning_times in S.
    replace (Q2R (-1)) with (-1) in D by (unfold Q2R; simpl; lra).
    replace (Q2R (-1)) with (-1) in S by (unfold Q2R; simpl; lra).
    split; lra.
  Qed.
End CheckDescent.
