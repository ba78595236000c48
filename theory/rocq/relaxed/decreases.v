From Certibit.relaxed Require Export against exponentials.
Local Open Scope R_scope.

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
  intros d u v H; unfold norm, inner; f_equal; apply sum_ext; intros i Hi.
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
  assert (P : 0 <= sum d (fun i => u i * u i)) by (apply sum_nonneg; intros; nra).
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
    Section Sound.
      Variables (d : nat) (f : vector -> R) (grad : vector -> vector) (x : vector).
      Variable outcomes : list outcome.
      Hypothesis L0_ : 0 <= Q2R L0.
      Hypothesis L1_ : 0 <= Q2R L1.
      Hypothesis c_ : 0 <= Q2R c.
      Hypothesis noise_ : 0 <= Q2R noise.
      Hypothesis Smooth : relaxed_smooth d (Q2R L0) (Q2R L1) f grad.
      Let G := norm d (grad x).
      Hypothesis Lies : lies (where_ r) G.
      Hypothesis Base : positive_on (where_ r) b = true.

      Let at_ q := at_slope r q G.
      Let g := grad x.
      Let D o := displacement r g G o.

      Lemma base_positive : 0 < eval b G.
      Proof. apply positive_on_sound with (where_ r); assumption. Qed.

      Lemma holds_sound : forall q cuts, holds q cuts = true -> 0 <= at_ q.
      Proof.
        intros q cuts H; unfold at_, at_slope; apply value_nonnegative; [exact base_positive|].
        apply nonnegative_by_sound with cuts (where_ r); assumption.
      Qed.

      Lemma at_zero : forall q, is_zero (num q) = true -> at_ q = 0.
      Proof.
        intros q H; unfold at_, at_slope, value; rewrite is_zero_sound by assumption; unfold Rdiv; ring.
      Qed.

      Lemma at_number : forall q, at_ (number q) = Q2R q.
      Proof. intro; apply value_number. Qed.
      Lemma at_variable : at_ variable = G.
      Proof. apply value_variable. Qed.
      Lemma at_mul : forall p q, at_ (rmul p q) = at_ p * at_ q.
      Proof. intros; apply value_mul, base_positive. Qed.
      Lemma at_add : forall p q, at_ (radd b p q) = at_ p + at_ q.
      Proof. intros; apply value_add, base_positive. Qed.
      Lemma at_sub : forall p q, at_ (rsub b p q) = at_ p - at_ q.
      Proof. intros; apply value_sub, base_positive. Qed.
      Lemma at_poly : forall p a q, at_ (rpoly b p a q) = eval p (at_ q) / IZR (Zpos a).
      Proof. intros; apply value_poly, base_positive. Qed.

      Lemma G_ : 0 <= G.
      Proof. apply norm_nonnegative. Qed.

      Hypothesis Total : mean outcomes (fun _ => 1) = 1.
      Hypothesis Zero : forall v, mean outcomes (fun o => inner d (fresh o) v) = 0.
      Hypothesis Square :
        mean outcomes (fun o => inner d (fresh o) (fresh o)) <= Q2R (fresh_square r).
      Hypothesis Each : forall o, In o outcomes ->
        0 <= weight o /\ norm d (fresh o) <= Q2R (reach r) /\
        norm d (answered o) <= at_ (known r) /\
        (at_ (turned r) <> 0 -> norm d (unit_ o) <= 1 /\
           sqrt (G * G - at_ (radius r) * at_ (radius r)) <= inner d (unit_ o) g) /\
        norm d (own o) <= Q2R (spread r) /\ at_ (toward r) * G <= inner d (own o) g.
      Hypothesis Along : 0 <= at_ (along r).
      Hypothesis Known : 0 <= at_ (known r).
      Hypothesis Turned : 0 <= at_ (turned r).
      Hypothesis Longest : 0 <= at_ (rsub b (length_ r)
        (radd b (radd b (straight_length) (radd b (known r) (turned r)))
           (number (reach r + spread r)%Q))).

      Lemma inner_of_step : forall o, inner d g (D o) = - at_ (along r) * (G * G)
        + inner d (fresh o) g + inner d (answered o) g - at_ (turned r) * inner d (unit_ o) g
        - inner d (own o) g.
      Proof.
        intro o; unfold G; rewrite norm_square; fold g.
        transitivity (sum d (fun i => - at_ (along r) * (g i * g i)
          + (fresh o i * g i + (answered o i * g i
             + (- at_ (turned r) * (unit_ o i * g i) + -1 * (own o i * g i)))))).
        - apply sum_ext; intros i _; unfold D, displacement; fold G; unfold at_, g; ring.
        - rewrite !sum_plus, !sum_scal; unfold inner; ring.
      Qed.

      Lemma length_of_step : forall o, In o outcomes -> norm d (D o) <= at_ (length_ r).
      Proof.
        intros o Ho; destruct (Each o Ho) as [_ [Hf [Hk [Ht [Ho' _]]]]].
        set (w1 := fun i => - at_ (along r) * g i + 1 * fresh o i).
        set (w2 := fun i => 1 * w1 i + 1 * answered o i).
        set (w3 := fun i => 1 * w2 i + - at_ (turned r) * unit_ o i).
        assert (B1 : norm d w1 <= at_ (along r) * G + norm d (fresh o)).
        { pose proof (norm_combined d (- at_ (along r)) g 1 (fresh o)) as B; fold w1 in B.
          change (norm d g) with G in B.
          rewrite Rabs_Ropp, (Rabs_pos_eq _ Along), Rabs_R1, Rmult_1_l in B; exact B. }
        assert (B2 : norm d w2 <= norm d w1 + norm d (answered o)).
        { pose proof (norm_combined d 1 w1 1 (answered o)) as B; fold w2 in B.
          rewrite Rabs_R1, !Rmult_1_l in B; exact B. }
        assert (B3 : norm d w3 <= norm d w2 + at_ (turned r)).
        { pose proof (norm_combined d 1 w2 (- at_ (turned r)) (unit_ o)) as B; fold w3 in B.
          rewrite Rabs_R1, Rmult_1_l, Rabs_Ropp, (Rabs_pos_eq _ Turned) in B.
          destruct (Req_dec (at_ (turned r)) 0) as [Z|Z]; [rewrite Z in *; lra|].
          destruct (Ht Z) as [U _]; pose proof (norm_nonnegative d (unit_ o)); nra. }
        assert (B4 : norm d (D o) <= norm d w3 + norm d (own o)).
        { pose proof (norm_plus d 1 w3 (-1) (own o) (D o)) as B.
          rewrite Rabs_R1, (Rabs_left (-1)), Rmult_1_l in B by lra.
          replace (- -1 * norm d (own o)) with (norm d (own o)) in B by ring; apply B; intros i _.
          unfold w3, w2, w1, D, displacement; fold G; unfold at_, g; ring. }
        rewrite at_sub, !at_add, at_number, Q2R_plus in Longest.
        unfold straight_length in Longest; rewrite at_mul, at_variable in Longest; lra.
      Qed.

      Lemma mean_inner : exists s, 0 <= s /\
        (at_ (turned r) <> 0 -> s = sqrt (G * G - at_ (radius r) * at_ (radius r))) /\
        mean outcomes (fun o => inner d g (D o)) <= - at_ (along r) * (G * G)
          + (at_ (known r) - at_ (toward r)) * G - at_ (turned r) * s.
      Proof.
        set (s := sqrt (G * G - at_ (radius r) * at_ (radius r))).
        exists s; split; [apply sqrt_pos | split; [reflexivity|]].
        set (K := - at_ (along r) * (G * G)
          + (at_ (known r) - at_ (toward r)) * G - at_ (turned r) * s).
        apply Rle_trans with (mean outcomes (fun o => inner d (fresh o) g + K * 1)).
        - apply mean_at_most; intros o Ho.
          destruct (Each o Ho) as [Pw [_ [Hk [Ht [_ Hw]]]]]; split; [assumption|].
          rewrite inner_of_step.
          pose proof (inner_at_most d (answered o) g) as C; change (norm d g) with G in C.
          assert (norm d (answered o) * G <= at_ (known r) * G)
            by (apply Rmult_le_compat_r; [apply G_ | assumption]).
          assert (at_ (turned r) * s <= at_ (turned r) * inner d (unit_ o) g).
          { destruct (Req_dec (at_ (turned r)) 0) as [Z|Z]; [rewrite Z; lra|].
            apply Rmult_le_compat_l; [assumption | apply (Ht Z)]. }
          unfold K; lra.
        - rewrite mean_plus, mean_times, Total, Zero; unfold K; lra.
      Qed.

      Lemma nothing_else : alone = true -> forall o, In o outcomes -> forall i, (i < d)%nat ->
        D o i = - at_ (along r) * g i + fresh o i.
      Proof.
        intros A o Ho i Hi; unfold alone in A.
        apply andb_prop in A; destruct A as [A A4]; apply andb_prop in A; destruct A as [A A3].
        apply andb_prop in A; destruct A as [A1 A2].
        apply at_zero in A1; apply at_zero in A2; apply Qle_bool_imp_le, Qle_Rle in A4.
        rewrite RMicromega.Q2R_0 in A4.
        destruct (Each o Ho) as [_ [_ [Hk [_ [Hw _]]]]].
        assert (norm d (answered o) <= 0) as Zk by lra; assert (norm d (own o) <= 0) as Zw by lra.
        unfold D, displacement; fold G.
        change (at_slope r (turned r) G) with (at_ (turned r)); rewrite A2.
        rewrite (nothing d _ Zk i Hi), (nothing d _ Zw i Hi); unfold at_, g; ring.
      Qed.

      Lemma mean_square_of_step :
        mean outcomes (fun o => norm d (D o) * norm d (D o)) <= at_ mean_square.
      Proof.
        unfold mean_square; destruct alone eqn:A.
        - rewrite at_add, at_number, !at_mul; unfold straight_length; rewrite at_mul, at_variable.
          set (a := at_ (along r)).
          apply Rle_trans with (mean outcomes (fun o => a * G * (a * G) * 1
            + (-2 * a * inner d (fresh o) g + inner d (fresh o) (fresh o)))).
          + apply mean_at_most; intros o Ho; split; [apply (Each o Ho)|].
            rewrite (norm_equal d (D o) (fun i => - a * g i + 1 * fresh o i)), norm_square.
            * rewrite inner_of_combination, <- (norm_square d g), (inner_symmetric d g).
              change (norm d g) with G; right; ring.
            * intros i Hi; rewrite (nothing_else A o Ho i Hi); unfold a; ring.
          + rewrite !mean_plus, !mean_times, Total, Zero; lra.
        - rewrite at_mul.
          apply Rle_trans with (mean outcomes (fun _ => at_ (length_ r) * at_ (length_ r) * 1)).
          + apply mean_at_most; intros o Ho; split; [apply (Each o Ho)|].
            pose proof (length_of_step o Ho); pose proof (norm_nonnegative d (D o)); nra.
          + rewrite mean_times, Total; lra.
      Qed.

      Lemma at_steep : at_ steep = Q2R L0 + Q2R L1 * G.
      Proof. unfold steep; rewrite at_add, at_mul, !at_number, at_variable; reflexivity. Qed.

      (** The growth of f, in the mean. *)
      Definition grown : Prop :=
        mean outcomes (fun o => f (moved x 1 (D o)))
          <= f x + mean outcomes (fun o => inner d g (D o)) + at_ excess.

      Lemma any_way_grows : forall top most cuts,
        grows r = any_way top most cuts -> check_growth = true -> grown.
      Proof.
        intros top most cuts E H; unfold grown, excess; unfold check_growth in H; rewrite E in *.
        apply andb_prop in H; destruct H as [H1 H2].
        apply at_most_sound in H1; destruct H1 as [T0 [T1 T2]].
        apply holds_sound in H2; rewrite at_sub, at_mul, !at_number in H2.
        rewrite !at_mul, at_number, at_steep.
        set (K := (Q2R L0 + Q2R L1 * G) * Q2R most).
        assert (PK : 0 <= K) by (unfold K; pose proof G_; apply Rmult_le_pos; nra).
        apply Rle_trans with (mean outcomes (fun o => f x * 1
          + (inner d g (D o) + K * (norm d (D o) * norm d (D o))))).
        - apply mean_at_most; intros o Ho; split; [apply (Each o Ho)|].
          pose proof (length_of_step o Ho) as Lo.
          pose proof (any_direction d (Q2R L0) (Q2R L1) f grad L0_ L1_ Smooth x (D o)
            (Q2R top) (Q2R most)) as A.
          fold g G in A; rewrite Rmult_1_r; unfold K.
          apply Rle_trans with (f x + inner d g (D o)
            + (Q2R L0 + Q2R L1 * G) * Q2R most * (norm d (D o) * norm d (D o))); [|lra].
          apply A; try assumption.
          apply Rle_trans with (Q2R L1 * at_ (length_ r)); [apply Rmult_le_compat_l; assumption | lra].
        - rewrite !mean_plus, !mean_times, Total.
          pose proof mean_square_of_step as S.
          assert (K * mean outcomes (fun o => norm d (D o) * norm d (D o)) <= K * at_ mean_square)
            by (apply Rmult_le_compat_l; assumption).
          unfold K in *; lra.
      Qed.

      Lemma against_grows : forall q top most cuts,
        grows r = against q top most cuts -> check_growth = true -> grown.
      Proof.
        intros q top most cuts Eg H; unfold grown, excess; unfold check_growth in H; rewrite Eg in *.
        cbv zeta in H; rewrite !andb_true_iff in H.
        destruct H as [[[[[[[[[[[H1 Hq] Hq1] Hm] A] Hr] Hl] Ht] Hs] C0] C1] C2].
        assert (Pos : forall p, is_positive p = true -> 0 < Q2R p).
        { intros p Hp; unfold is_positive in Hp; apply negb_true_iff in Hp.
          rewrite <- RMicromega.Q2R_0; apply Qlt_Rlt, Qnot_le_lt; intro N.
          apply Qle_bool_iff in N; rewrite N in Hp; discriminate. }
        apply Pos in H1; apply Pos in Hq; clear Pos.
        apply Qle_bool_imp_le, Qle_Rle in Hq1; rewrite RMicromega.Q2R_1 in Hq1.
        apply at_most_sound in Hm; destruct Hm as [T0 [M0 M1]].
        apply Qle_bool_imp_le, Qle_Rle in Hr; rewrite RMicromega.Q2R_0 in Hr.
        apply at_zero in Hl; rewrite at_sub in Hl; unfold straight_length in Hl.
        rewrite at_mul, at_variable in Hl.
        set (a := at_ (along r)) in *; set (len := at_ (length_ r)) in *.
        assert (El : len = a * G) by lra; clear Hl.
        assert (Eo : Q2R (one_less q) = 1 - Q2R q)
          by (unfold one_less; rewrite Q2R_minus, RMicromega.Q2R_1; reflexivity).
        set (T := Q2R L1 * (a * G)).
        assert (E1 : at_ (in_part q) = Q2R q * T).
        { unfold in_part; rewrite at_mul, at_number, Q2R_mult; fold len; rewrite El; unfold T; ring. }
        assert (E2 : at_ (in_part (one_less q)) = (1 - Q2R q) * T).
        { unfold in_part; rewrite at_mul, at_number, Q2R_mult, Eo; fold len; rewrite El; unfold T; ring. }
        (* all outcomes are one *)
        assert (One : forall o, In o outcomes -> forall i, (i < d)%nat -> D o i = - a * g i).
        { intros o Ho i Hi; rewrite (nothing_else A o Ho i Hi).
          destruct (Each o Ho) as [_ [Hf _]]; rewrite (nothing d (fresh o)) by (assumption || lra).
          unfold a; ring. }
        assert (In_ : forall o, In o outcomes -> inner d g (D o) = - a * (G * G)).
        { intros o Ho; rewrite inner_symmetric.
          rewrite (inner_equal d (D o) (fun i => - a * g i + 0 * g i) g).
          - rewrite inner_combined; unfold G; rewrite norm_square; fold g; ring.
          - intros i Hi; rewrite (One o Ho i Hi); ring. }
        assert (Main : f (moved x 1 (fun i => - a * g i)) <= f x - a * (G * G)
          + at_ (rmul (rmul steep (rmul (length_ r) (length_ r))) (against_square q most))).
        { rewrite !at_mul, at_steep; fold len; rewrite El.
          unfold against_square; rewrite !at_add, !at_mul, !at_number, !at_poly, E1, !Q2R_mult, Eo.
          destruct (Req_dec (a * G) 0) as [Z|Z].
          { rewrite Z; replace (a * (G * G)) with (a * G * G) by ring; rewrite Z.
            destruct Smooth as [_ [Ext _]].
            assert (St : f (moved x 1 (fun i => - a * g i)) = f x); [|rewrite St; right; ring].
            apply Ext; intros i Hi; unfold moved.
            apply Rmult_integral in Z; destruct Z as [Z|Z]; [rewrite Z; ring|].
            rewrite (nothing d g (Req_le _ _ Z) i Hi); ring. }
          pose proof G_ as PG.
          assert (Pa : 0 <= a) by (unfold a; assumption).
          assert (PG' : 0 < G) by (destruct (Req_dec G 0) as [W|]; [rewrite W, Rmult_0_r in Z; lra | lra]).
          assert (Pa' : 0 < a) by (destruct (Req_dec a 0) as [W|]; [rewrite W, Rmult_0_l in Z; lra | lra]).
          assert (PT : 0 < T) by (unfold T; apply Rmult_lt_0_compat; [|apply Rmult_lt_0_compat]; assumption).
          set (T1 := Q2R q * T) in *; set (T2 := (1 - Q2R q) * T) in *.
          assert (PT1 : 0 <= T1) by (unfold T1; apply Rmult_le_pos; lra).
          assert (PT2 : 0 <= T2) by (unfold T2; apply Rmult_le_pos; lra).
          set (e := exp (- T1)).
          set (E := Q2R most * T2).
          assert (PE : 0 <= E) by (unfold E; apply Rmult_le_pos; lra).
          destruct (bounds_of_exp T1 PT1) as [B0 [B1 [B2 B3]]]; fold e in B0, B1, B2, B3.
          set (v2 := eval (skipn 2 (descending 14)) T1 / IZR (Zpos fourteen)) in *.
          set (v1 := eval (pscale (-1) (skipn 1 (descending 13))) T1 / IZR (Zpos thirteen)) in *.
          set (v0 := eval (descending 14) T1 / IZR (Zpos fourteen)) in *.
          (* the conditions *)
          apply holds_sound in Ht; rewrite at_sub, at_number, E2 in Ht.
          apply holds_sound in Hs; rewrite at_sub, at_add, at_mul, !at_number, E1, E2 in Hs.
          fold E in Hs; rewrite RMicromega.Q2R_1 in Hs.
          set (steeply := rmul steep (rpoly b (descending 7) seven (in_part q))) in *.
          set (u := rsub b steeply (number L0)) in *.
          set (y := rmul (rmul steeply (rmul (number most) (in_part (one_less q)))) (number (1 # 4))) in *.
          set (own_ := rmul (number L1) variable) in *.
          set (turning := rmul (rmul (rmul own_ own_) (rmul (rmul own_ own_) own_)) _) in *.
          set (known_ := rmul of_own _) in *.
          apply holds_sound in C0; rewrite at_sub in C0.
          apply holds_sound in C1; rewrite at_sub, at_mul in C1.
          assert (Own : at_ own_ = Q2R L1 * G)
            by (unfold own_; rewrite at_mul, at_number, at_variable; reflexivity).
          set (w := Q2R L1 * G) in *.
          assert (Pw : 0 < w) by (unfold w; apply Rmult_lt_0_compat; assumption).
          set (yy := Q2R L0 / w).
          assert (Pyy : 0 <= yy)
            by (unfold yy; apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; assumption]).
          assert (St : at_ steeply <= (Q2R L0 + w) * e).
          { unfold steeply; rewrite at_mul, at_poly, at_steep, E1; fold w.
            apply Rmult_le_compat_l; [lra | exact B3]. }
          assert (Eu : at_ u = at_ steeply - Q2R L0)
            by (unfold u; rewrite at_sub, at_number; reflexivity).
          assert (Ey : at_ y = at_ steeply * E * (1 / 4)).
          { unfold y; rewrite !at_mul, !at_number, E2; fold E; f_equal; unfold Q2R; simpl; field. }
          set (F13 := IZR (hd 0%Z (factors 13))).
          assert (Tu : at_ turning = w * w * w * w * w * (24 * F13)).
          { unfold turning; rewrite !at_mul, at_number, Own.
            replace (Q2R (inject_Z (24 * hd 0%Z (factors 13)))) with (24 * F13); [ring|].
            unfold Q2R, inject_Z, F13; cbn [Qnum Qden]; rewrite mult_IZR; field. }
          set (W := at_ of_own).
          assert (EW : W = w * w * w * w * eval (factors 4) yy).
          { unfold W, of_own; rewrite at_poly; fold own_; rewrite Own.
            assert (En : IZR (Qnum L0) = Q2R L0 * IZR (Zpos (Qden L0)))
              by (rewrite Q2R_as_quotient; field; pose proof (positive_integer (Qden L0)); lra).
            rewrite times_itself_is_power; pose proof (positive_integer (Qden L0)).
            change (factors 4) with [24; 24; 12; 4; 1]%Z; cbn [eval]; rewrite !mult_IZR, En.
            unfold yy; field; split; lra. }
          assert (Kn : at_ known_ = W * IZR euler).
          { unfold known_; rewrite at_mul, at_number; fold W; f_equal.
            unfold Q2R, inject_Z; cbn [Qnum Qden]; field. }
          destruct (below_slope w yy Pw Pyy) as [PWe Pt]; rewrite <- EW in PWe, Pt; fold F13 in Pt.
          set (t := w * w * w * w * w * (24 * F13) / (W * IZR euler)) in *.
          assert (Ht' : w * w * w * w * w * (24 * F13) = t * (W * IZR euler))
            by (unfold t; field; split; intro N; rewrite N in PWe; lra).
          rewrite Kn, Tu, Ht' in C1.
          assert (Tu' : t <= at_ u) by (apply Rmult_le_reg_r with (1 := PWe); lra).
          assert (Es : at_ steeply = at_ u + Q2R L0) by lra.
          rewrite Es in Ey, St.
          destruct (short_enough (Q2R L0) (Q2R L1) G e E (at_ u) t L0_ H1 PG' PE Pt Tu' St) as [PU Cond].
          { apply orb_prop in C2; destruct C2 as [C2|C2]; [left|right].
            - apply Qeq_bool_eq, Qeq_eqR in C2; rewrite RMicromega.Q2R_1 in C2.
              unfold E, T2; rewrite C2; ring.
            - apply holds_sound in C2; rewrite at_sub, !at_mul, at_add, at_sub, Kn, Tu, Ht' in C2.
              rewrite <- Ey; split; [lra|].
              apply Rmult_le_reg_r with (1 := PWe); lra. }
          pose proof (against_gradient d (Q2R L0) (Q2R L1) f grad L0_ H1 Smooth x a (Q2R q)
            (Q2R top) (Q2R most) Pa' (conj Hq Hq1)) as R; cbv zeta in R.
          fold G g in R; fold T in R; fold T1 T2 E e in R.
          assert (Rb := R T0 ltac:(lra) M1 M0 PG' ltac:(lra) PU Cond); clear R.
          apply Rle_trans with (1 := Rb); apply Rplus_le_compat_l.
          replace ((Q2R L0 + Q2R L1 * G) * (a * G * (a * G)) * _)
            with ((Q2R L0 + Q2R L1 * G) / (Q2R L1 * Q2R L1)
                  * (T1 * T1 * v2 + T1 * v1 * T2 + v0 * (Q2R most * (T2 * T2)))).
          - apply Rmult_le_compat_l.
            + apply Rmult_le_pos; [fold w; lra|]; left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption.
            + assert ((1 - e) * T2 <= T1 * v1 * T2) by (apply Rmult_le_compat_r; assumption).
              assert (e * (Q2R most * (T2 * T2)) <= v0 * (Q2R most * (T2 * T2))).
              { apply Rmult_le_compat_r; [|assumption].
                apply Rmult_le_pos; [lra | apply Rmult_le_pos; assumption]. }
              lra.
          - fold v2 v1 v0; unfold T1, T2, T; field; lra. }
        apply Rle_trans with (mean outcomes (fun _ => f (moved x 1 (fun i => - a * g i)) * 1)).
        - apply mean_at_most; intros o Ho; split; [apply (Each o Ho)|]; rewrite Rmult_1_r; right.
          destruct Smooth as [_ [Ext _]]; apply Ext; intros i Hi; unfold moved.
          rewrite (One o Ho i Hi); reflexivity.
        - rewrite mean_times, Total, Rmult_1_r.
          assert (Mi : mean outcomes (fun o => inner d g (D o)) >= - a * (G * G)).
          { apply Rle_ge; rewrite <- (Rmult_1_r (- a * (G * G))), <- Total, <- mean_times.
            apply mean_at_most; intros o Ho; split; [apply (Each o Ho)|].
            rewrite (In_ o Ho); lra. }
          lra.
      Qed.

      Lemma decreases_by_growth : grown -> check_decrease = true ->
        mean outcomes (fun o => f (moved x 1 (D o)))
          <= f x - Q2R c * Rmin (Q2R eta * (G * G)) (Q2R gamma * G) + Q2R noise.
      Proof.
        intros Gr H; unfold grown in Gr; destruct mean_inner as [s [Ps [Es I]]].
        assert (M : Q2R c * Rmin (Q2R eta * (G * G)) (Q2R gamma * G) <= at_ measure).
        { unfold measure; destruct (is_short r); rewrite !at_mul, at_number, Q2R_mult, at_variable;
            rewrite !Rmult_assoc; apply Rmult_le_compat_l; try assumption;
            [apply Rmin_l | apply Rmin_r]. }
        assert (Lf : at_ left_ = at_ (along r) * (G * G) + (at_ (toward r) - at_ (known r)) * G
                     - (at_ excess + at_ measure)).
        { unfold left_; rewrite at_sub, !at_add, !at_mul, at_sub, at_variable; reflexivity. }
        unfold check_decrease in H; destruct (is_zero (num (turned r))) eqn:T.
        - apply at_zero in T; apply holds_sound in H; rewrite at_add, at_number, Lf in H.
          rewrite T in I; lra.
        - apply andb_prop in H; destruct H as [H1 H2].
          apply holds_sound in H1; apply holds_sound in H2.
          rewrite at_sub, at_variable in H1; rewrite at_sub, !at_mul, at_sub, !at_mul, at_variable in H2.
          assert (- at_ left_ <= at_ (turned r) * s).
          { destruct (Req_dec (at_ (turned r)) 0) as [Z|Z].
            - rewrite Z in *; assert (at_ left_ * at_ left_ <= 0) by lra.
              assert (at_ left_ = 0) by nra; lra.
            - rewrite (Es Z) in *; set (q := G * G - at_ (radius r) * at_ (radius r)) in *.
              assert (Pq : 0 <= q).
              { destruct (Rle_dec 0 q); [assumption|]; exfalso.
                assert (0 < at_ (turned r) * at_ (turned r)) by nra.
                pose proof (Rle_0_sqr (at_ left_)) as Y; unfold Rsqr in Y; nra. }
              pose proof (sqrt_sqrt q Pq) as Sq; pose proof (sqrt_pos q) as Sp.
              destruct (Rle_dec (- at_ left_) (at_ (turned r) * sqrt q)) as [Y|Y]; [assumption|].
              assert (0 <= at_ (turned r) * sqrt q) by (apply Rmult_le_pos; assumption).
              assert (at_ (turned r) * sqrt q * (at_ (turned r) * sqrt q) < at_ left_ * at_ left_) by nra.
              replace (at_ (turned r) * sqrt q * (at_ (turned r) * sqrt q))
                with (q * (at_ (turned r) * at_ (turned r))) in H0 by (rewrite <- Sq at 1; ring).
              lra. }
          lra.
      Qed.
    End Sound.

    Theorem regime_sound : 0 <= Q2R L0 -> 0 <= Q2R L1 -> 0 <= Q2R c -> 0 <= Q2R noise ->
      check_regime = true ->
      forall d f grad, relaxed_smooth d (Q2R L0) (Q2R L1) f grad -> forall x outcomes,
      let G := norm d (grad x) in
      lies (where_ r) G -> step_of r d (grad x) outcomes ->
      mean outcomes (fun o => f (moved x 1 (displacement r (grad x) G o)))
        <= f x - Q2R c * Rmin (Q2R eta * (G * G)) (Q2R gamma * G) + Q2R noise.
    Proof.
      intros P0 P1 Pc Pn H d f grad Smooth x outcomes G Lies Step.
      unfold check_regime in H; rewrite !andb_true_iff in H.
      destruct H as [[[[[[[[[[[[Base _] As] Al] Kn] Tu] _] _] _] _] Lo] Gr] De].
      assert (Assumed : forall a, In a (assumed r) -> 0 <= at_slope r (fst a) G).
      { intros a Ha; rewrite forallb_forall in As.
        apply (holds_sound d grad x Lies Base (fst a) (snd a)), (As a Ha). }
      destruct (Step Assumed) as [Total [Zero [Square Each]]].
      apply (holds_sound d grad x Lies Base) in Al; apply (holds_sound d grad x Lies Base) in Kn.
      apply (holds_sound d grad x Lies Base) in Tu; apply (holds_sound d grad x Lies Base) in Lo.
      apply decreases_by_growth; try assumption.
      destruct (grows r) as [top most cuts|q top most cuts] eqn:E.
      - apply any_way_grows with top most cuts; assumption.
      - apply against_grows with q top most cuts; assumption.
    Qed.
  End Regime.

  Definition covered (regimes : list regime) (s : span) : bool :=
    let own := map answers (filter (fun r => same_span (where_ r) s) regimes) in
    complete (fold_right Nat.max O (map (@length bool) own)) own.

  Definition check (ends : list Q) (regimes : list regime) : bool :=
    Qle_bool 0 L0 && Qle_bool 0 L1 && Qle_bool 0 c && Qle_bool 0 noise
    && match ends with [] => false | a :: _ => Qeq_bool a 0 end
    && increase ends
    && forallb (covered regimes) (spans ends)
    && forallb check_regime regimes.

  Theorem sound : forall ends regimes, check ends regimes = true ->
    decreases L0 L1 eta gamma c noise regimes.
  Proof.
    intros ends regimes H; unfold check in H; rewrite !andb_true_iff in H.
    destruct H as [[[[[[[P0 P1] Pc] Pn] First] Inc] Cov] Reg].
    assert (P : forall q, Qle_bool 0 q = true -> 0 <= Q2R q)
      by (intros q Hq; apply Qle_bool_imp_le, Qle_Rle in Hq; rewrite RMicromega.Q2R_0 in Hq; exact Hq).
    rewrite forallb_forall in Cov, Reg.
    split.
    - intros G answer HG.
      destruct (spans_sound ends G Inc) as [s [Hs Hl]].
      { destruct ends as [|a others]; [discriminate|].
        apply Qeq_bool_eq, Qeq_eqR in First; rewrite First, RMicromega.Q2R_0; assumption. }
      destruct (complete_sound _ _ (Cov s Hs) answer) as [a [Ha Hk]].
      apply in_map_iff in Ha; destruct Ha as [r [<- Hr]]; apply filter_In in Hr; destruct Hr as [Hr He].
      exists r; split; [assumption | split; [apply same_span_lies with s; assumption | assumption]].
    - intros d f grad Smooth x r outcomes Hr G Lies Step.
      apply regime_sound; auto.
  Qed.
End Check.
