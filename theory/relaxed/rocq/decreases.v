(** * One step of a method, and what is claimed of it *)

(** How fast f may grow along the step D from x: *)
Inductive growth :=
  | any_way (top most : Q) (cuts : list Q)
      (* in any direction, for L1 |D| <= top: (L0 + L1 G) most |D|^2, see [any_direction] *)
  | against (part top most : Q) (cuts : list (list Q)).
      (* a part of the step as if the gradient did not turn, the rest in any direction, for
         D = -along grad f(x), see [against_gradient] *)

(** The step for G = |grad f(x)| in a span, and some answers that the noise gives. With

      D = -along grad f(x) + fresh + known - turned u - own:

    fresh noise has mean 0, at most the length [reach] and the mean square [fresh_square]; known
    noise has at most the length [known]; <u, grad f(x)> >= sqrt(G^2 - radius^2), |u| <= 1; and
    |own| <= spread, <own, grad f(x)> >= toward G. The last two are what it is cut at for signs. *)
Record regime := {
  where_ : span;
  answers : list bool;
  base : poly;
  along : ratio;
  known : ratio;
  turned : ratio;
  toward : ratio;
  radius : ratio;
  length_ : ratio;                  (* of |D| *)
  fresh_square : Q;
  reach : Q;
  spread : Q;
  assumed : list (ratio * list Q);  (* nonnegative if the bounds above hold *)
  grows : growth;
  is_short : bool;                  (* M = eta G^2, otherwise gamma G *)
  straight_cuts : list Q;
  decrease_cuts : list Q
}.

(** An outcome of the noise, with its probability. *)
Record outcome := { weight : R; fresh : vector; answered : vector; unit_ : vector; own : vector }.

Definition mean (outcomes : list outcome) (F : outcome -> R) : R :=
  fold_right (fun o s => weight o * F o + s) 0 outcomes.

Definition at_slope (r : regime) (q : ratio) (G : R) : R := value (base r) q G.

Definition displacement (r : regime) (g : vector) (G : R) (o : outcome) : vector := fun i =>
  - at_slope r (along r) G * g i + fresh o i + answered o i - at_slope r (turned r) G * unit_ o i
  - own o i.

Definition step_of (r : regime) (d : nat) (g : vector) (outcomes : list outcome) : Prop :=
  let G := norm d g in
  let at_ q := at_slope r q G in
  (forall a, In a (assumed r) -> 0 <= at_ (fst a)) ->
  mean outcomes (fun _ => 1) = 1 /\
  (forall v, mean outcomes (fun o => inner d (fresh o) v) = 0) /\
  mean outcomes (fun o => inner d (fresh o) (fresh o)) <= Q2R (fresh_square r) /\
  forall o, In o outcomes ->
    0 <= weight o /\ norm d (fresh o) <= Q2R (reach r) /\ norm d (answered o) <= at_ (known r) /\
    (at_ (turned r) <> 0 ->
       norm d (unit_ o) <= 1 /\
       sqrt (G * G - at_ (radius r) * at_ (radius r)) <= inner d (unit_ o) g) /\
    norm d (own o) <= Q2R (spread r) /\ at_ (toward r) * G <= inner d (own o) g.

(** For all (L0, L1)-smooth f on R^d, all x with G = |grad f(x)|, and all answers of the noise there
    is a regime of the step, and in each of them

      E f(x+) <= f(x) - c min(eta G^2, gamma G) + noise. *)
Definition decreases (L0 L1 eta gamma c noise : Q) (regimes : list regime) : Prop :=
  (forall (G : R) (answer : nat -> bool), 0 <= G -> exists r, In r regimes /\ lies (where_ r) G /\
     forall k, (k < length (answers r))%nat -> nth k (answers r) true = answer k) /\
  forall d f grad, relaxed_smooth d (Q2R L0) (Q2R L1) f grad ->
  forall x r outcomes, In r regimes ->
  let G := norm d (grad x) in
  lies (where_ r) G -> step_of r d (grad x) outcomes ->
  mean outcomes (fun o => f (moved x 1 (displacement r (grad x) G o)))
    <= f x - Q2R c * Rmin (Q2R eta * (G * G)) (Q2R gamma * G) + Q2R noise.

Section Mean.
  Variable outcomes : list outcome.

  Lemma mean_plus : forall F K,
    mean outcomes (fun o => F o + K o) = mean outcomes F + mean outcomes K.
  Proof. intros F K; induction outcomes as [|o l IH]; simpl; [ring | rewrite IH; ring]. Qed.

  Lemma mean_times : forall a F, mean outcomes (fun o => a * F o) = a * mean outcomes F.
  Proof. intros a F; induction outcomes as [|o l IH]; simpl; [ring | rewrite IH; ring]. Qed.

  Lemma mean_at_most : forall F K, (forall o, In o outcomes -> 0 <= weight o /\ F o <= K o) ->
    mean outcomes F <= mean outcomes K.
  Proof.
    intros F K H; induction outcomes as [|o l IH]; simpl; [lra|].
    destruct (H o (or_introl eq_refl)) as [P Q].
    apply Rplus_le_compat; [apply Rmult_le_compat_l; assumption|].
    apply IH; intros p Hp; apply H; right; assumption.
  Qed.
End Mean.

Lemma norm_equal : forall d u v, (forall i, (i < d)%nat -> u i = v i) -> norm d u = norm d v.
Proof.
  intros d u v H; unfold norm, inner; f_equal; apply sum_equal; intros i Hi.
  rewrite (H i Hi); reflexivity.
Qed.

Lemma norm_plus : forall d a u b v w,
  (forall i, (i < d)%nat -> w i = a * u i + b * v i) ->
  norm d w <= Rabs a * norm d u + Rabs b * norm d v.
Proof.
  intros d a u b v w H; rewrite (norm_equal d w (fun i => a * u i + b * v i) H); apply norm_combined.
Qed.

Lemma nothing : forall d u, norm d u <= 0 -> forall i, (i < d)%nat -> u i = 0.
Proof.
  intros d u H.
  assert (S : inner d u u = 0)
    by (rewrite <- norm_square; pose proof (norm_nonnegative d u);
        assert (Z : norm d u = 0) by lra; rewrite Z; ring).
  clear H; unfold inner in S; induction d as [|d IH]; intros i Hi; [lia|]; simpl in S.
  assert (P : 0 <= sum d (fun i => u i * u i)) by (apply sum_nonnegative; intros; nra).
  destruct (PeanoNat.Nat.eq_dec i d) as [->|N]; [nra | apply IH; [nra | lia]].
Qed.

(** * The regimes cover all G and all answers *)

Fixpoint spans (ends : list Q) : list span :=
  match ends with
  | [] => []
  | a :: others =>
      {| low := a; high := Some a |}
      :: {| low := a; high := match others with [] => None | e :: _ => Some e end |} :: spans others
  end.

Fixpoint increase (ends : list Q) : bool :=
  match ends with
  | a :: ((e :: _) as others) => Qle_bool a e && increase others
  | _ => true
  end.

(** Whether all sequences of answers begin with one of a list. *)
Definition tails (yes : bool) (l : list (list bool)) : list (list bool) :=
  map (@tl bool) (filter (fun a => match a with [] => false | e :: _ => Bool.eqb e yes end) l).
Fixpoint complete (n : nat) (l : list (list bool)) : bool :=
  existsb (fun a => match a with [] => true | _ => false end) l
  || match n with O => false | S m => complete m (tails true l) && complete m (tails false l) end.

Definition same_span (s t : span) : bool :=
  Qeq_bool (low s) (low t)
  && match high s, high t with
     | None, None => true
     | Some a, Some e => Qeq_bool a e
     | _, _ => false
     end.

Lemma complete_sound : forall n l, complete n l = true -> forall answer : nat -> bool,
  exists a, In a l /\ forall k, (k < length a)%nat -> nth k a true = answer k.
Proof.
  induction n as [|n IH]; intros l H answer; cbn [complete] in H; apply orb_prop in H;
    (destruct H as [H|H];
     [apply existsb_exists in H; destruct H as [[|e a] [Ha He]]; [|discriminate];
      exists []; split; [assumption | simpl; intros; lia] |]); [discriminate|].
  apply andb_prop in H; destruct H as [H1 H2].
  assert (T : complete n (tails (answer O) l) = true) by (destruct (answer O); assumption).
  destruct (IH _ T (fun k => answer (S k))) as [a [Ha Hk]].
  unfold tails in Ha; apply in_map_iff in Ha; destruct Ha as [[|e a'] [<- Ha]];
    apply filter_In in Ha; destruct Ha as [Ha He]; [discriminate|].
  exists (e :: a'); split; [assumption|]; intros [|k] Hlt; simpl in *.
  - apply Bool.eqb_prop; assumption.
  - apply Hk; lia.
Qed.

Lemma spans_sound : forall ends G, increase ends = true ->
  match ends with [] => False | a :: _ => Q2R a <= G end ->
  exists s, In s (spans ends) /\ lies s G.
Proof.
  induction ends as [|a [|e others] IH]; intros G H HG; [contradiction| |].
  - exists {| low := a; high := None |}; split; [right; left; reflexivity | exact HG].
  - cbn [increase] in H; apply andb_prop in H; destruct H as [_ H].
    destruct (Rlt_dec G (Q2R e)) as [L|L].
    + exists {| low := a; high := Some e |}; split; [right; left; reflexivity|].
      right; simpl; lra.
    + destruct (IH G H) as [s [Hs Hl]]; [lra|].
      exists s; split; [right; right; assumption | assumption].
Qed.

Lemma same_span_lies : forall s t G, same_span s t = true -> lies t G -> lies s G.
Proof.
  intros [a b] [a' b'] G H L; unfold same_span, lies in *; simpl in *.
  apply andb_prop in H; destruct H as [H1 H2]; apply Qeq_bool_eq, Qeq_eqR in H1; rewrite H1.
  destruct b, b'; try discriminate; try assumption.
  apply Qeq_bool_eq, Qeq_eqR in H2; rewrite H2; assumption.
Qed.

(** * The check *)

Section Check.
  Variables L0 L1 eta gamma c noise : Q.

  Definition is_zero (p : poly) : bool := forallb (Z.eqb 0) p.
  Definition is_positive (q : Q) : bool := negb (Qle_bool q 0).

  Lemma is_zero_sound : forall p x, is_zero p = true -> eval p x = 0.
  Proof.
    induction p as [|a p IH]; intros x H; simpl in *; [reflexivity|].
    apply andb_prop in H; destruct H as [H1 H2].
    destruct a; try discriminate; rewrite IH by assumption; ring.
  Qed.

  Section Regime.
    Variable r : regime.

    Let b := base r.
    Definition holds (q : ratio) (cuts : list Q) : bool := nonnegative_by (where_ r) cuts (num q).

    Definition straight_length : ratio := rmul (along r) variable.
    Definition alone : bool :=
      is_zero (num (known r)) && is_zero (num (turned r)) && is_zero (num (toward r))
      && Qle_bool (spread r) 0.
    Definition steep : ratio := radd b (number L0) (rmul (number L1) variable).
    Definition mean_square : ratio :=
      if alone then radd b (rmul straight_length straight_length) (number (fresh_square r))
      else rmul (length_ r) (length_ r).

    (** Along a part of a step against the gradient, and along the rest. *)
    Definition in_part (q : Q) : ratio := rmul (number (L1 * q)) (length_ r).
    Definition one_less (q : Q) : Q := (1 - q)%Q.

    Definition against_square (q most : Q) : ratio :=
      let T1 := in_part q in
      radd b (rmul (number (q * q)) (rpoly b (skipn 2 (descending 14)) fourteen T1))
        (radd b (rmul (number (q * one_less q))
                   (rpoly b (pscale (-1) (skipn 1 (descending 13))) thirteen T1))
           (rmul (number (most * (one_less q * one_less q)))
                 (rpoly b (descending 14) fourteen T1))).

    Definition excess : ratio :=
      match grows r with
      | any_way _ most _ => rmul (rmul steep mean_square) (number most)
      | against q _ most _ =>
          rmul (rmul steep (rmul (length_ r) (length_ r))) (against_square q most)
      end.

    (** 24 (L1 G)^4 times the first powers of e^(L0/(L1 G)). *)
    Definition of_own : ratio :=
      let n := Qnum L0 in
      let e := Zpos (Qden L0) in
      rpoly b [n * n * n * n; 4 * (n * n * n * e); 12 * (n * n * e * e); 24 * (n * e * e * e);
               24 * (e * e * e * e)]%Z (times_itself (Qden L0) 4) (rmul (number L1) variable).

    Definition check_growth : bool :=
      match grows r with
      | any_way top most cuts =>
          at_most top most && holds (rsub b (number top) (rmul (number L1) (length_ r))) cuts
      | against q top most cuts =>
          let E := rmul (number most) (in_part (one_less q)) in
          let steeply := rmul steep (rpoly b (descending 7) seven (in_part q)) in
          let u := rsub b steeply (number L0) in
          let y := rmul (rmul steeply E) (number (1 # 4)) in
          let own := rmul (number L1) variable in
          let turning := rmul (rmul (rmul own own) (rmul (rmul own own) own))
            (number (inject_Z (24 * hd 0%Z (factors 13)))) in
          let known := rmul of_own (number (inject_Z euler)) in
          is_positive L1 && is_positive q && Qle_bool q 1 && at_most top most
          && alone && Qle_bool (reach r) 0
          && is_zero (num (rsub b (length_ r) straight_length))
          && holds (rsub b (number top) (in_part (one_less q))) (nth 0 cuts [])
          && holds (rsub b (number 1) (radd b (in_part q) E)) (nth 0 cuts [])
          && holds (rsub b u y) (nth 1 cuts [])
          && holds (rsub b (rmul u known) turning) (nth 2 cuts [])
          && (Qeq_bool q 1 || holds (rsub b (rmul (rmul u known) (rmul (rsub b u y) (rsub b u y)))
                      (rmul turning (rmul (radd b u y) (radd b u y)))) (nth 3 cuts []))
      end.

    Definition measure : ratio :=
      if is_short r then rmul (number (c * eta)) (rmul variable variable)
      else rmul (number (c * gamma)) variable.

    Definition left_ : ratio :=
      rsub b (radd b (rmul (along r) (rmul variable variable))
                (rmul (rsub b (toward r) (known r)) variable))
        (radd b excess measure).

    Definition check_decrease : bool :=
      if is_zero (num (turned r)) then holds (radd b left_ (number noise)) (decrease_cuts r)
      else
        holds (rsub b variable (radius r)) (straight_cuts r)
        && holds (rsub b (rmul (rsub b (rmul variable variable) (rmul (radius r) (radius r)))
                            (rmul (turned r) (turned r)))
                    (rmul left_ left_)) (decrease_cuts r).

    Definition check_regime : bool :=
      positive_on (where_ r) b
      && Qle_bool 0 (low (where_ r))
      && forallb (fun a => holds (fst a) (snd a)) (assumed r)
      && holds (along r) (if is_zero (num (turned r)) then straight_cuts r else [])
      && holds (known r) [] && holds (turned r) [] && holds (radius r) []
      && Qle_bool 0 (reach r) && Qle_bool 0 (spread r) && Qle_bool 0 (fresh_square r)
      && holds (rsub b (length_ r)
                  (radd b (radd b straight_length (radd b (known r) (turned r)))
                     (number (reach r + spread r)%Q))) []
      && check_growth && check_decrease.
