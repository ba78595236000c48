(* Unbiased compressors U(omega), messages of n clients with omega_av, contractions B(alpha). *)
From Certibit Require Export Distributions.

Section Compressors.
Context {V : space}.

Record U (omega : R) (C : V -> dist V) : Prop := {
  mean_C : forall x, unbiased (C x) x;
  var_C : forall x, E (C x) (fun a => sq (a -v x)) <= omega * sq x }.

Record B (alpha : R) (C : V -> dist V) : Prop := {
  contract : forall x, E (C x) (fun a => sq (a -v x)) <= (1 - alpha) * sq x }.

(* The messages of n clients: each is in U(omega), and their mean has the relative variance omega_av. *)
Record messages (n : nat) (omega omega_av : R) (C : (nat -> V) -> dist (nat -> V)) : Prop := {
  mean_m : forall x i z, (i < n)%nat -> E (C x) (fun m => dot (m i) z) = dot (x i) z;
  var_m : forall x i, (i < n)%nat -> E (C x) (fun m => sq (m i -v x i)) <= omega * sq (x i);
  var_av : forall x, E (C x) (fun m => sq (vmean n m -v vmean n x)) <=
    omega_av / INR n * sum n (fun i => sq (x i)) }.

Definition independent (n : nat) (C : nat -> V -> dist V) (x : nat -> V) : dist (nat -> V) :=
  draw n (fun i => C i (x i)) zero.

Theorem independent_messages n omega (C : nat -> V -> dist V) : (1 <= n)%nat ->
  (forall i, (i < n)%nat -> U omega (C i)) -> messages n omega (omega / INR n) (independent n C).
Proof.
  intros Hn HU. pose proof (INR_pos n Hn) as Hp. split.
  - intros x i z Hi. unfold independent. rewrite (marginal n _ _ i (fun a => dot a z)) by auto.
    apply (mean_C _ _ (HU i Hi)).
  - intros x i Hi. unfold independent. rewrite (marginal n _ _ i (fun a => sq (a -v x i))) by auto.
    apply (var_C _ _ (HU i Hi)).
  - intros x. unfold independent.
    rewrite (E_ext _ _ (fun m => / INR n * / INR n * sq (vsum n m -v vsum n x)))
      by (intros; unfold vmean; expand; ring).
    rewrite E_scal, variance_of_sum by (intros i Hi; apply (mean_C _ _ (HU i Hi))).
    replace (omega / INR n / INR n * _)
      with (/ INR n * / INR n * sum n (fun i => omega * sq (x i))) by (rewrite sum_scal; field; lra).
    apply Rmult_le_compat_l.
    + pose proof (Rinv_0_lt_compat _ Hp). nra.
    + apply sum_le. intros i Hi. apply (var_C _ _ (HU i Hi)).
Qed.

Lemma messages_weaken n omega omega' omega_av C : omega <= omega' ->
  messages n omega omega_av C -> messages n omega' omega_av C.
Proof.
  intros Ho H. split; try apply H. intros x i Hi. eapply Rle_trans; [apply H; auto|].
  apply Rmult_le_compat_r; [apply sq_pos|auto].
Qed.

(* Contractions: a bound for each client; independence is not needed. *)
Lemma independent_contractions n alpha (C : nat -> V -> dist V) x i : (i < n)%nat ->
  B alpha (C i) -> E (independent n C x) (fun m => sq (m i -v x i)) <= (1 - alpha) * sq (x i).
Proof.
  intros Hi H. unfold independent. rewrite (marginal n _ _ i (fun a => sq (a -v x i))) by auto.
  apply H.
Qed.

Lemma message_second_moment n omega omega_av C x i z : messages n omega omega_av C -> (i < n)%nat ->
  E (C x) (fun m => sq (m i -v z)) <= sq (x i -v z) + omega * sq (x i).
Proof.
  intros H Hi. rewrite (bias_variance (C x) (fun m => m i) (x i) z).
  - apply Rplus_le_compat_l. now apply H.
  - intros. now apply (mean_m _ _ _ _ H).
Qed.

Lemma mean_of_messages n omega omega_av C x z : messages n omega omega_av C ->
  E (C x) (fun m => dot (vmean n m) z) = dot (vmean n x) z.
Proof.
  intros H. unfold vmean.
  rewrite (E_ext _ _ (fun m => / INR n * sum n (fun i => dot (m i) z)))
    by (intros; now rewrite dot_scal_l, dot_vsum_l).
  rewrite E_scal, E_sum, dot_scal_l, dot_vsum_l. f_equal. apply sum_ext. intros.
  now apply (mean_m _ _ _ _ H).
Qed.
End Compressors.
