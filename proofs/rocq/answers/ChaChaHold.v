(** * ChaChaHold: the specification of ChaCha, evaluated by Rocq's kernel on published answers

    RFC 8439, draft-irtf-cfrg-xchacha-03 and draft-strombergson-chacha-test-vectors-01.  In the RFC the nonce has 12 bytes
    and the counter 32 bits: the first four bytes of its nonce are the upper half of a counter of 64 bits. *)

From Coq Require Import String List NArith.
From Veriplex Require Import Simpira1024 KnownAnswers ChaCha.
Import ListNotations.
Local Open Scope N_scope.

Definition counted (n : nat) : list N := map N.of_nat (seq 0 n).

(** RFC 8439, section 2.1.1. *)
Example quarter_round_example :
  quarter_round [0x11111111; 0x01020304; 0x9b8d6f43; 0x01234567] = [0xea2a92f4; 0xcb1cf8ce; 0x4581472e; 0x5881c4bb].
Proof. vm_compute; reflexivity. Qed.

(** RFC 8439, section 2.3.2. *)
Example block_example :
  block 20 (counted 32) (unhex "0000004a00000000") (0x09000000 * 2 ^ 32 + 1) = unhex
    ("10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e" ++
     "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e").
Proof. vm_compute; reflexivity. Qed.

(** Key, nonce and number zero: RFC 8439, appendix A.1, the first; draft-strombergson-chacha-test-vectors-01, TC1. *)
Example blocks_of_zero :
  map (fun n => block n (zero 32) (zero 8) 0) [20; 12; 8]%nat = map unhex
    ["76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7" ++
     "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586";
     "9bf49a6a0755f953811fce125f2683d50429c3bb49e074147e0089a52eae155f" ++
     "0564f879d27ae3c02ce82834acfa8c793a629f2ca0de6919610be82f411326be";
     "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e" ++
     "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"]%string.
Proof. vm_compute; reflexivity. Qed.

(** RFC 8439, appendix A.1, the second: block 1 of the stream. *)
Example stream_example :
  skipn 64 (stream 20 (zero 32) (zero 8) 80) = unhex "9f07e7be5551387a98ba977c732d080d".
Proof. vm_compute; reflexivity. Qed.

(** draft-irtf-cfrg-xchacha-03, section 2.2.1. *)
Example hchacha_example :
  hchacha 20 (counted 32) (unhex "000000090000004a0000000031415927") =
  unhex "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc".
Proof. vm_compute; reflexivity. Qed.

(** Several groups at once are the blocks of the stream, one after the other. *)
Example xor_blocks_example :
  let key := counted 32 in let nonce := counted 8 in
  xor_blocks 8 key nonce [0; 1; 2; 3] (repeat (repeat (zero 64) 4) 2) =
  ([8; 9; 10; 11], map (split 64 4) (split 256 2 (stream 8 key nonce 512))).
Proof. vm_compute; reflexivity. Qed.
