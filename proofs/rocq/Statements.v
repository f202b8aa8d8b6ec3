(* What `make check` compares with statements.txt: each final theorem with its whole type, which shows any assumption
   that a section adds; the definitions that the statements use. The Makefile adds what all theorems rest on. *)

From Veriplex Require Blocks Duplex Framing Protocol AES Simpira1024 KnownAnswers VectorsHold Veriplex
  Machine X86_64 Call Call_x86_64 Kernels_x86_64 Permute_x86_64
  DuplexBlocks Blocks_x86_64 Returns DuplexMachine Sound_x86_64
  AArch64 Call_aarch64 Kernels_aarch64 Permute_aarch64 Blocks_aarch64 Sound_aarch64
  Lanes Kernels_x2_x86_64 Lanes_x86_64 Kernels_x2_aarch64 Lanes_aarch64
  LaneKernels LaneBlocks_x86_64 LaneBlocks_aarch64
  WideLanes_x86_64 Kernels_x4_x86_64 Lanes_x4_x86_64 LaneBlocks_x4_x86_64
  Kernels_x8_x86_64 Lanes_x8_x86_64 LaneBlocks_x8_x86_64
  Tree Outboard Seekable ParallelAnswers ParallelHold
  Words64 Poly1305 Poly1305Limbs Poly1305Lanes Poly1305Lanes44 Poly1305Pairs Poly1305Vectors
  Poly1305Hold WordsOfAnyWidth Poly1305Text Poly1305Words
  Poly1305Rows Kernels_poly1305_x86_64 Poly1305_x86_64 Kernels_poly1305_x16_x86_64 Poly1305_x16_x86_64
  Kernels_poly1305_aarch64 Poly1305_aarch64
  Rust TwinText Twin TwinBlocks
  Xoodoo Xoofff XoofffAnswers XoofffHold
  Kernels_xoofff_aarch64 Xoofff_aarch64 XoofffKernels Kernels_xoofff_x86_64 Xoofff_x86_64
  WordLanes_x86_64 Kernels_xoofff_x16_x86_64 Xoofff_x16_x86_64
  Arx ChaCha ChaChaHold ChaChaKernels Kernels_chacha_aarch64 ChaCha_aarch64
  Kernels_chacha_x86_64 ChaCha_x86_64 Kernels_chacha_x6_x86_64 ChaCha_x6_x86_64
  WordLanes_x86_64 ChaChaWords Kernels_chacha_x16_x86_64 ChaCha_x16_x86_64
  NH NHHold NHSums NHKernels Kernels_nh_x86_64 NH_x86_64 Kernels_nh_aarch64 NH_aarch64.
(* So that numbers, lists and strings print as such. *)
From Coq Require Import NArith String List.
Import ListNotations.
Open Scope list_scope.
Set Printing Width 110.
(* Nothing is left out of a long term. *)
Set Printing Depth 1000000.

(* -- The specification ------------------------------------------------------------------------------------------- *)

Print AES.xor.
Print AES.xtime.
Print AES.gf_mul_by.
Print AES.gf_mul.
Print AES.gf_inverse.
Print AES.rotate_left.
Print AES.sub_byte.
Print AES.s_box.
Print AES.s_box_at.
Print AES.sub_bytes.
Print AES.shift_rows.
Print AES.mix_column.
Print AES.mix_columns.
Print AES.aes_round_core.
Print AES.aes_round.
Print Simpira1024.little_endian.
Print Simpira1024.split.
Print Simpira1024.update.
Print Simpira1024.zero.
Print Simpira1024.round_constant.
Print Simpira1024.feistel.
Print Simpira1024.edges.
Print Simpira1024.round.
Print Simpira1024.permute.
Print Simpira1024.round_constants.
Check AES.sub_bytes_is.
Check Simpira1024.permute_length.
Check KnownAnswers.gf_mul_example.
Check KnownAnswers.sub_byte_example.
Check KnownAnswers.round_example.
Check KnownAnswers.rounds_example.
Check VectorsHold.counts.
Check VectorsHold.permutations_hold.
Check VectorsHold.sequences_hold.

(* -- Duplex and Protocol, for every permutation ---------------------------------------------------------------------- *)

Print Duplex.rate.
Print Duplex.width.
Print Duplex.xor_at.
Print Duplex.set_at.
Print Duplex.get.
Print Duplex.duplex.
Print Duplex.start.
Print Duplex.permute.
Print Duplex.advance.
Print Duplex.absorb1.
Print Duplex.absorb.
Print Duplex.squeeze.
Print Duplex.encrypt.
Print Duplex.decrypt.
Print Duplex.frame.
Print Duplex.ratchet.
Print Duplex.block.
Print Duplex.tape.
Print Duplex.blank.
Print Duplex.token.
Print Duplex.feed1.
Print Duplex.feed.
Print Duplex.bytes.
Print Duplex.mark.
Print Duplex.pad.
Print Duplex.xors.
Print Duplex.play1.
Print Duplex.play.
Print Duplex.render.
Print Duplex.wf.
Print Duplex.keeps_length.
Print Duplex.event.
Print Duplex.do_event.
Print Duplex.do_events.
Print Framing.label_max.
Print Framing.visible.
Print Framing.tape_header.
Print Framing.ready.
Print Protocol.leb_fuel.
Print Protocol.leb.
Print Protocol.op.
Print Protocol.code.
Print Protocol.label.
Print Protocol.tag_length.
Print Protocol.header.
Print Protocol.act.
Print Protocol.step.
Print Protocol.run.
Print Protocol.unmask.
Print Protocol.opened.
Print Protocol.unseal.
Print Protocol.point.
Print Protocol.point_code.
Print Protocol.point_label.
Print Protocol.act_to.
Print Protocol.reach.
Print Protocol.body.
Print Protocol.body_to.
Print Protocol.tape_step.
Print Protocol.tape_run.
Print Protocol.tape_reach.
Print Protocol.fed.
Print Protocol.short.
Print Protocol.collision_left.
Print Protocol.collision_right.
Print Protocol.sane.
Print Protocol.begins.
Check Duplex.duplex_collision.
Check Protocol.label_92_collision.
Check Protocol.label_limit_sharp.
Check Protocol.transcript_injective.
Check Protocol.transcript_injective_padded.
Check Protocol.output_points_injective.
Check Protocol.output_byte.
Check Protocol.output_blocks_distinct.
Check Framing.header_injective.
Check Protocol.tape_injective.
Check Duplex.render_inj.
Check Protocol.run_agrees.
Check Protocol.unmask_is_mask.
Check Protocol.unseal_is_seal.
Check Protocol.mix_pieces.
Check Protocol.mask_pieces.

(* -- The twin -------------------------------------------------------------------------------------------------- *)

Import Rust.Notations.

Print Rust.outcome.
Print Rust.bind.
Print Rust.add.
Print Rust.sub.
Print Rust.cast.
Print Rust.le_bytes.
Print Rust.len.
Print Rust.index.
Print Rust.update_at.
Print Rust.update.
Print Rust.copies.
Print Rust.push.
Print Rust.split_at.
Print Rust.same.
Print Rust.range.
Print Rust.for_each.
Print Rust.collect.
Print Rust.from_fn.
Print Rust.deep.
Print TwinText.duplex_RATE.
Print TwinText.Duplex.
Print TwinText.duplex_EMPTY.
Print TwinText.duplex_xor_at.
Print TwinText.duplex_pad_permute.
Print TwinText.duplex_get.
Print TwinText.duplex_put.
Print TwinText.duplex_xor_in.
Print TwinText.duplex_absorb.
Print TwinText.duplex_squeeze.
Print TwinText.duplex_encrypt.
Print TwinText.duplex_decrypt.
Print TwinText.duplex_absorb_leb128_within.
Print TwinText.duplex_absorb_leb128.
Print TwinText.duplex_frame.
Print TwinText.duplex_ratchet.
Print TwinText.duplex_serialize.
Print TwinText.duplex_deserialize.
Print TwinText.duplex_end_block.
Print TwinText.duplex_absorb_block.
Print TwinText.duplex_squeeze_block.
Print TwinText.duplex_encrypt_block.
Print TwinText.duplex_decrypt_block.
Print TwinText.duplex_absorb_blocks.
Print TwinText.duplex_squeeze_blocks.
Print TwinText.duplex_encrypt_blocks.
Print TwinText.duplex_decrypt_blocks.
Print TwinText.protocol_MAX_LABEL.
Print TwinText.protocol_TAG_LEN.
Print TwinText.protocol_header.
Print TwinText.protocol_init.
Print TwinText.protocol_mix.
Print TwinText.protocol_derive.
Print TwinText.protocol_mask.
Print TwinText.protocol_unmask.
Print TwinText.protocol_seal.
Print TwinText.Opened.
Print TwinText.protocol_open.
Print TwinText.protocol_fork_branch.
Print TwinText.protocol_fork_root.
Print TwinText.protocol_ratchet.
Print Twin.twin_of.
Print Twin.twin_out.
Print Twin.fits.
Print Twin.opening.
Print Twin.no_output.
Print Twin.twin_step.
Print Twin.twin_run.
Print Twin.model_outputs.
Print Twin.runs_on.
Check Twin.pad_permute_is.
Check Twin.get_is.
Check Twin.put_is.
Check Twin.xor_in_is.
Check Twin.absorb_is.
Check Twin.squeeze_is.
Check Twin.encrypt_is.
Check Twin.decrypt_is.
Check Twin.absorb_leb128_is.
Check Twin.frame_is.
Check Twin.ratchet_is.
Check Twin.header_is.
Check Twin.init_is.
Check Twin.mix_is.
Check Twin.derive_is.
Check Twin.mask_is.
Check Twin.unmask_is.
Check Twin.seal_is.
Check Twin.open_is.
Check Twin.open_short.
Check Twin.fork_branch_is.
Check Twin.fork_root_is.
Check Twin.protocol_ratchet_is.
Check Twin.sane_run.
Check Twin.model_is_twin.

Print TwinBlocks.blocks_of_rate.
Check TwinBlocks.end_block_is.
Check TwinBlocks.absorb_block_is.
Check TwinBlocks.squeeze_block_is.
Check TwinBlocks.encrypt_block_is.
Check TwinBlocks.decrypt_block_is.
Check TwinBlocks.absorb_blocks_is.
Check TwinBlocks.squeeze_blocks_is.
Check TwinBlocks.encrypt_blocks_is.
Check TwinBlocks.decrypt_blocks_is.

(* -- Duplex and Protocol, for Simpira-1024 --------------------------------------------------------------------------- *)

Check Veriplex.veriplex_transcript_injective.
Check Veriplex.veriplex_transcript_injective_padded.
Check Veriplex.veriplex_output_blocks_distinct.

(* -- The parallel digest ------------------------------------------------------------------------------------------ *)

Print Tree.text.
Print Tree.cv_len.
Print Tree.chunk_len.
Print Tree.cut_fuel.
Print Tree.cut.
Print Tree.query.
Print Tree.base.
Print Tree.begin.
Print Tree.node.
Print Tree.root.
Print Tree.above.
Print Tree.climb.
Print Tree.top.
Print Tree.tree.
Print Tree.nodes.
Print Tree.asked.
Print Tree.up.
Print Tree.value.
Print Tree.nodes_below.
Print Tree.bytes_eq_dec.
Print Tree.differ.
Print Tree.descend.
Print Tree.collide.
Print Tree.collide_values.
Print Tree.collision.
Print Tree.derive.
Print Tree.inputs_of.
Check Tree.levels.
Check Tree.climb_step.
Check Tree.node_injective.
Check Tree.root_injective.
Check Tree.node_is_no_root.
Check Tree.base_injective.
Check Tree.tree_collision.
Check Tree.digest_collision.
Check Tree.value_collision.
Check Tree.tree_collision_protocol.
Check Tree.tree_collision_states.

(* -- A chunk and its proof ---------------------------------------------------------------------------------------- *)

Print Outboard.count.
Print Outboard.verify_from.
Print Outboard.verify.
Print Outboard.proof_from.
Print Outboard.proof_of.
Print Outboard.differ_above.
Print Outboard.collide_proof.
Print Outboard.without.
Print Outboard.sum.
Print Outboard.content.
Print Outboard.example.
Print Outboard.example_message.
Check Outboard.chunk_sound.
Check Outboard.value_needs_level.
Check Outboard.tree_needs_level_or_length.
Check Outboard.collide_example.
Check Outboard.verify_example.
Check Outboard.verify_needs_length.

(* -- Encryption in segments --------------------------------------------------------------------------------------- *)

Print Seekable.context.
Print Seekable.segment.
Print Seekable.sealing.
Print Seekable.places.
Print Seekable.transcripts.
Print Seekable.slots.
Print Seekable.fits.
Print Seekable.plaintext_len.
Print Seekable.seal_segment.
Print Seekable.seal.
Print Seekable.accept.
Print Seekable.stream_from.
Print Seekable.stream.
Print Seekable.finished.
Print Seekable.open_last.
Print Seekable.read_segment.
Print Seekable.accepted.
Print Seekable.accepted_by_stream.
Print Seekable.accepted_at.
Print Seekable.sealed.
Print Seekable.forged.
Print Seekable.tag_inputs.
Print Seekable.in_range.
Check Seekable.segment_injective.
Check Seekable.sealing_injective.
Check Seekable.accept_is_seal.
Check Seekable.stream_sound.
Check Seekable.random_sound.
Check Seekable.forged_is_new.

(* -- Known answers of both ---------------------------------------------------------------------------------------- *)

Print ParallelAnswers.data_from.
Print ParallelAnswers.data.
Print ParallelAnswers.tree_answer.
Print ParallelAnswers.tree_holds.
Print ParallelAnswers.seekable_answer.
Print ParallelAnswers.seekable_holds.
Check ParallelHold.parallel_counts.
Check ParallelHold.trees_hold.
Check ParallelHold.messages_hold.

(* -- The machine ---------------------------------------------------------------------------------------------------- *)

Print Arx.lane_number.
Print Arx.lanes.
Print Arx.in_lanes.
Print Arx.plus_lanes.
Print Arx.times_lanes.
Print Arx.times_52.
Print Arx.shift_left.
Print Arx.shift_right.
Print Arx.or_bytes.
Print Arx.and_bytes.
Print Arx.ones.
Print Arx.shuffle_16.
Print Arx.shuffle.
Print Arx.choose_words.
Print Machine.memory.
Print Machine.read.
Print Machine.write.
Print Machine.event.
Print Machine.machine.
Print Machine.set.
Print Machine.with_pc.
Print Machine.with_gpr.
Print Machine.with_vec.
Print Machine.with_carry.
Print Machine.with_zero.
Print Machine.with_mem.
Print Machine.log.
Print Machine.wrap.
Print Machine.address.
Print Machine.number.
Print Machine.condition.
Print Machine.bytes.
Print Machine.effect.
Print Machine.number_in.
Print Machine.condition_in.
Print Machine.effective.
Print Machine.bytes_in.
Print Machine.loads.
Print Machine.fits.
Print Machine.loads_fit.
Print Machine.load_events.
Print Machine.number_of.
Print Machine.isa.
Print Machine.apply.
Print Machine.apply_all.
Print Machine.fetch.
Print Machine.step.
Print Machine.run.

(* -- x86-64 ------------------------------------------------------------------------------------------------------- *)

Print X86_64.rax.
Print X86_64.rcx.
Print X86_64.rdx.
Print X86_64.rbx.
Print X86_64.rsp.
Print X86_64.rbp.
Print X86_64.rsi.
Print X86_64.rdi.
Print X86_64.r8.
Print X86_64.operand.
Print X86_64.source.
Print X86_64.vector.
Print X86_64.joined.
Print X86_64.piece.
Print X86_64.pieces.
Print X86_64.vmovdqu.
Print X86_64.vmovdqu_to.
Print X86_64.vpxor.
Print X86_64.vpslldq.
Print X86_64.vpsrldq.
Print X86_64.vpalignr_load.
Print X86_64.vpalignr.
Print X86_64.vaesenc.
Print X86_64.movq.
Print X86_64.vmovq.
Print X86_64.vzeroall.
Print X86_64.vbroadcast.
Print X86_64.vpaddd.
Print X86_64.vpaddq.
Print X86_64.vpsllq.
Print X86_64.vpsrlq.
Print X86_64.vpslld.
Print X86_64.vpsrld.
Print X86_64.even_words.
Print X86_64.vpmuludq.
Print X86_64.vpmuludq_load.
Print X86_64.vpmadd52.
Print X86_64.odd_words_alone.
Print X86_64.vpsrlq_32.
Print X86_64.vpor.
Print X86_64.vpand.
Print X86_64.vpandn.
Print X86_64.vpshufb.
Print X86_64.chosen_words.
Print X86_64.vpshufd.
Print X86_64.vpshufd_pieces.
Print X86_64.vpunpcklqdq.
Print X86_64.in_turn.
Print X86_64.vpunpck.
Print X86_64.vprold.
Print X86_64.vpbroadcastd.
Print X86_64.vinsert_1.
Print X86_64.vextracti128_1.
Print X86_64.vperm2i128_33.
Print X86_64.vperm2i128_low.
Print X86_64.vperm2i128_high.
Print X86_64.vshufi64x2.
Print X86_64.vpternlogq_xor.
Print X86_64.vpternlogq_xor_and.
Print X86_64.vpternlogq_xor_andn.
Print X86_64.valignd.
Print X86_64.vpermd.
Print X86_64.movabs.
Print X86_64.mov_load.
Print X86_64.xor_itself.
Print X86_64.add.
Print X86_64.dec.
Print X86_64.cmp.
Print X86_64.jmp.
Print X86_64.ja.
Print X86_64.ret.
Print X86_64.unsigned.
Print X86_64.signed.
Print Machine.field.
Print Machine.twos_complement.
Print X86_64.memory_operand.
Print X86_64.modrm.
Print X86_64.vex.
Print X86_64.operand_size.
Print X86_64.evex.
Print X86_64.rex_w.
Print X86_64.instruction.
Print X86_64.x86_64.
Print Call.within.
Print Call.disjoint.
Print Call.compatible.
Print Call.code_part.
Print Call_x86_64.return_address.
Print Call_x86_64.called.
Print Call_x86_64.allowed.
Print Call_x86_64.returned.
Print Permute_x86_64.code.
Print Permute_x86_64.buffers.
Check Permute_x86_64.table_is.
Check Permute_x86_64.permute_x86_64.
Print DuplexBlocks.end_block.
Print DuplexBlocks.absorb_block.
Print DuplexBlocks.squeeze_block.
Print DuplexBlocks.encrypt_block.
Print DuplexBlocks.decrypt_block.
Print DuplexBlocks.absorb_blocks.
Print DuplexBlocks.squeeze_blocks.
Print DuplexBlocks.encrypt_blocks.
Print DuplexBlocks.decrypt_blocks.
Print Call.chunks.
Print Blocks_x86_64.ends.
Check Blocks_x86_64.absorb_blocks_x86_64.
Check Blocks_x86_64.squeeze_blocks_x86_64.
Check Blocks_x86_64.encrypt_blocks_x86_64.
Check Blocks_x86_64.encrypt_blocks_in_place_x86_64.
Check Blocks_x86_64.decrypt_blocks_x86_64.
Check Blocks_x86_64.decrypt_blocks_in_place_x86_64.

(* -- AArch64 ------------------------------------------------------------------------------------------------------ *)

Section Numbers.
Import Coq.NArith.BinNat Coq.ZArith.BinInt.
Local Open Scope Z_scope.
Local Open Scope hex_N_scope.
Print AArch64.vector.
Print AArch64.aese.
Print AArch64.aesmc.
Print AArch64.eor.
Print AArch64.and_16b.
Print AArch64.bic.
Print AArch64.ext.
Print AArch64.mov.
Print AArch64.add_4s.
Print AArch64.add_2d.
Print AArch64.umlal_2d.
Print AArch64.upper.
Print AArch64.umlal2_2d.
Print AArch64.umull_2d.
Print AArch64.umull2_2d.
Print AArch64.shl_2d.
Print AArch64.ushr_2d.
Print AArch64.usra_2d.
Print AArch64.shl_4s.
Print AArch64.sri_4s.
Print AArch64.word_of.
Print AArch64.four_words.
Print AArch64.uzp1_4s.
Print AArch64.trn1_4s.
Print AArch64.zip1_2d.
Print AArch64.zip2_2d.
Print AArch64.bic_4s.
Print AArch64.movi_2d.
Print AArch64.movi_8h.
Print AArch64.ldp.
Print AArch64.ldp_x.
Print AArch64.ldur.
Print AArch64.stp.
Print AArch64.stur.
Print AArch64.ld4_4s.
Print AArch64.add.
Print AArch64.sub.
Print AArch64.cbnz.
Print AArch64.b.
Print AArch64.ret.
Print AArch64.register.
Print AArch64.signed.
Print AArch64.unsigned.
Print AArch64.if_general.
Print AArch64.forms.
Print AArch64.first_form.
Print AArch64.instruction.
Print AArch64.aarch64.
Print Call_aarch64.called.
Print Call_aarch64.allowed.
Print Call_aarch64.returned.
Print Permute_aarch64.code.
Print Permute_aarch64.buffers.
Check Permute_aarch64.permute_aarch64.
Print Blocks_aarch64.ends.
Check Blocks_aarch64.absorb_blocks_aarch64.
Check Blocks_aarch64.squeeze_blocks_aarch64.
Check Blocks_aarch64.encrypt_blocks_aarch64.
Check Blocks_aarch64.encrypt_blocks_in_place_aarch64.
Check Blocks_aarch64.decrypt_blocks_aarch64.
Check Blocks_aarch64.decrypt_blocks_in_place_aarch64.
End Numbers.

(* -- Two lanes ------------------------------------------------------------------------------------------------------ *)

Print Lanes.lane_at.
Print Lanes.lanes.
Print Lanes.in_lanes.
Print Lanes_x86_64.code.
Print Lanes_x86_64.buffers.
Check Lanes_x86_64.permute_x2_x86_64.
Print Lanes_aarch64.code.
Print Lanes_aarch64.buffers.
Check Lanes_aarch64.permute_x2_aarch64.
Print LaneKernels.addresses_at.
Print LaneBlocks_x86_64.buffers_of.
Print LaneBlocks_x86_64.call.
Print LaneBlocks_x86_64.ends.
Print LaneBlocks_x86_64.blocks_of.
Check LaneBlocks_x86_64.absorb_blocks_x2_x86_64.
Check LaneBlocks_x86_64.squeeze_blocks_x2_x86_64.
Check LaneBlocks_x86_64.encrypt_blocks_x2_x86_64.
Check LaneBlocks_x86_64.decrypt_blocks_x2_x86_64.
Print LaneBlocks_aarch64.buffers_of.
Print LaneBlocks_aarch64.call.
Print LaneBlocks_aarch64.ends.
Print LaneBlocks_aarch64.blocks_of.
Check LaneBlocks_aarch64.absorb_blocks_x2_aarch64.
Check LaneBlocks_aarch64.squeeze_blocks_x2_aarch64.
Check LaneBlocks_aarch64.encrypt_blocks_x2_aarch64.
Check LaneBlocks_aarch64.decrypt_blocks_x2_aarch64.

(* -- Four and eight lanes ------------------------------------------------------------------------------------------- *)

Print Lanes.size.
Print WideLanes_x86_64.round_constants_x4.
Print WideLanes_x86_64.buffers_of.
Print WideLanes_x86_64.call.
Print WideLanes_x86_64.ends.
Print WideLanes_x86_64.blocks_of.
Print Lanes_x4_x86_64.code.
Print Lanes_x4_x86_64.buffers.
Check Lanes_x4_x86_64.table_x4_is.
Check Lanes_x4_x86_64.permute_x4_x86_64.
Check LaneBlocks_x4_x86_64.absorb_blocks_x4_x86_64.
Check LaneBlocks_x4_x86_64.squeeze_blocks_x4_x86_64.
Check LaneBlocks_x4_x86_64.encrypt_blocks_x4_x86_64.
Check LaneBlocks_x4_x86_64.decrypt_blocks_x4_x86_64.
Print Call_x86_64.returned_avx512.
Print Lanes_x8_x86_64.code.
Print Lanes_x8_x86_64.buffers.
Check Lanes_x8_x86_64.permute_x8_x86_64.
Check LaneBlocks_x8_x86_64.absorb_blocks_x8_x86_64.
Check LaneBlocks_x8_x86_64.squeeze_blocks_x8_x86_64.
Check LaneBlocks_x8_x86_64.encrypt_blocks_x8_x86_64.
Check LaneBlocks_x8_x86_64.decrypt_blocks_x8_x86_64.

(* -- The duplex on the machine ---------------------------------------------------------------------------------------- *)

Print Returns.reaches.
Check Returns.reaches_unique.
Print DuplexMachine.kernels.
Print DuplexMachine.faithful.
Print DuplexMachine.bare.
Print DuplexMachine.mode.
Print DuplexMachine.absorbing.
Print DuplexMachine.squeezing.
Print DuplexMachine.encrypting.
Print DuplexMachine.decrypting.
Print DuplexMachine.permuted.
Print DuplexMachine.advanced.
Print DuplexMachine.passed.
Print DuplexMachine.absorbed.
Print DuplexMachine.squeezed.
Print DuplexMachine.framed.
Print DuplexMachine.headed.
Print DuplexMachine.acted.
Print DuplexMachine.ran_from.
Print DuplexMachine.ran.
Print DuplexMachine.bare_of.
Print DuplexMachine.outputs_from.
Print DuplexMachine.outputs.
Check DuplexMachine.duplex_machine.
Print Sound_x86_64.return_to.
Print Sound_x86_64.call.
Print Sound_x86_64.constants_at.
Print Sound_x86_64.from_to.
Print Sound_x86_64.permutes_x86_64.
Print Sound_x86_64.absorbs_x86_64.
Print Sound_x86_64.squeezes_x86_64.
Print Sound_x86_64.crypts_x86_64.
Print Sound_x86_64.kernels_x86_64.
Check Sound_x86_64.kernels_x86_64_faithful.
Check Sound_x86_64.veriplex_x86_64_sound.
Check Sound_x86_64.veriplex_x86_64_runs.

Section Numbers_of_calls.
Import Coq.NArith.BinNat Coq.ZArith.BinInt.
Local Open Scope Z_scope.
Print Sound_aarch64.return_to.
Print Sound_aarch64.call.
Print Sound_aarch64.constants_at.
Print Sound_aarch64.from_to.
Print Sound_aarch64.permutes_aarch64.
Print Sound_aarch64.absorbs_aarch64.
Print Sound_aarch64.squeezes_aarch64.
Print Sound_aarch64.crypts_aarch64.
Print Sound_aarch64.kernels_aarch64.
Check Sound_aarch64.kernels_aarch64_faithful.
Check Sound_aarch64.veriplex_aarch64_sound.
Check Sound_aarch64.veriplex_aarch64_runs.
End Numbers_of_calls.

(* -- The loop of the lifted kernels ---------------------------------------------------------------------------------- *)

Print Blocks.memory.
Print Blocks.read.
Print Blocks.write.
Print Blocks.chunks.
Print Blocks.disjoint.
Print Blocks.scanl.
Print Blocks.final.
Print Blocks.outputs.
Print Blocks.loop.
Print Blocks.call.
Print Blocks.placed.
Check Blocks.blocks_for_every_n.

Print Blocks.pieces.
Print Blocks.group.
Check Blocks.groups_for_every_n.

Print Blocks.loop_in_memory.
Print Blocks.call_in_memory.
Check Blocks.blocks_in_memory_for_every_n.
Check Blocks.groups_in_memory_for_every_n.

Print Blocks.each.
Print Blocks.next_states.
Print Blocks.blocks_out.
Print Blocks.finals.
Print Blocks.write_all.
Print Blocks.loop_lanes.
Print Blocks.call_lanes.
Print Blocks.sized.
Print Blocks.apart.
Check Blocks.lanes_for_every_n.

Print Blocks.current.
Print Blocks.further.
Print Blocks.currents.
Print Blocks.loop_reads.
Print Blocks.call_reads.
Print Blocks.shaped.
Check Blocks.reads_for_every_n.

(* -- Poly1305 --------------------------------------------------------------------------------------------------- *)

From Coq Require Import ZArith.
Open Scope Z_scope.

Print Poly1305.prime.
Print Poly1305.le_number.
Print Poly1305.le_bytes.
Print Poly1305.clamp.
Print Poly1305.block_number.
Print Poly1305.cut.
Print Poly1305.blocks.
Print Poly1305.add_block.
Print Poly1305.polynomial.
Print Poly1305.poly1305.
Check Poly1305Hold.poly1305_count.
Check Poly1305Hold.poly1305_holds.

Print Words64.plus.
Print Words64.times.
Print Words64.low_half.
Print Words64.shift_right.
Print Words64.shift_left.
Print Words64.both.
Print Words64.bind.
Print Poly1305Limbs.low_product.
Print Poly1305Limbs.block_limbs.
Print Poly1305Limbs.add_limbs.
Print Poly1305Limbs.multiply.
Print Poly1305Limbs.add_full_block.
Print Poly1305Limbs.sum_lanes.
Print Poly1305Limbs.carry_limbs.
Print Poly1305Limbs.reduce_limbs.
Print Poly1305.limbs.
Print Poly1305.multiplier.
Print Poly1305.limbs_number.
Print Poly1305.words.
Print Poly1305.lane_blocks.
Print Poly1305Lanes.congruent.
Print Poly1305Lanes.below.
Print Poly1305Lanes.carried.
Print Poly1305Lanes.add_group.
Print Poly1305Lanes.power.
Print Poly1305Lanes.same_multipliers.
Print Poly1305Lanes.last_multipliers.
Print Poly1305Lanes.two_calls.
Print Poly1305Lanes.whole.
Print Poly1305Lanes.start.
Check Poly1305Lanes.multiply_number.
Check Poly1305Lanes.reduce_limbs_number.
Check Poly1305Lanes.lanes_are_the_polynomial.
Check Poly1305Lanes.lanes_are_poly1305.

Print WordsOfAnyWidth.plus_at.
Print WordsOfAnyWidth.times_at.
Print WordsOfAnyWidth.shift_left_at.
Print WordsOfAnyWidth.either.
Print WordsOfAnyWidth.narrowed.
Print WordsOfAnyWidth.widened.
Print Poly1305Text.wide_product.
Print Poly1305Text.word_product.
Print Poly1305Text.carry_of.
Print Poly1305Text.wide_block.
Print Poly1305Text.reduce.
Print Poly1305Text.small_limbs.
Print Poly1305Text.small_block.
Print Poly1305Text.small_value.
Print Poly1305Words.word.
Print Poly1305Words.halves.
Print Poly1305Words.wide_multiplier.
Print Poly1305Words.small_multiplier.
Print Poly1305Words.wide_blocks.
Print Poly1305Words.small_blocks.
Print Poly1305Words.padded.
Print Poly1305Words.tag_of.
Print Poly1305Words.wide_tag.
Print Poly1305Words.small_tag.
Print Poly1305Words.number.
Print Poly1305Words.sum_fits.
Print Poly1305Words.remainder_of.
Print Poly1305Words.full.
Print Poly1305Words.is_clamped.
Print Poly1305Words.small_fits.
Print Poly1305Lanes.horner.
Check Poly1305Words.clamped.
Check Poly1305Words.wide_block_number.
Check Poly1305Words.reduce_number.
Check Poly1305Words.wide_blocks_are_horner.
Check Poly1305Words.wide_tag_is_poly1305.
Check Poly1305Words.small_block_number.
Check Poly1305Words.small_value_number.
Check Poly1305Words.small_blocks_are_horner.
Check Poly1305Words.small_tag_is_poly1305.

Print Words64.product_52.
Print Words64.low_52.
Print Words64.high_52.
Print Poly1305Limbs.low52.
Print Poly1305Limbs.high52.
Print Poly1305Limbs.block_limbs44.
Print Poly1305Limbs.add_limbs44.
Print Poly1305Limbs.multiply_two.
Print Poly1305Limbs.add_two_blocks.
Print Poly1305Limbs.sum_four44.
Print Poly1305Limbs.sum_lanes44.
Print Poly1305Limbs.carry_limbs44.
Print Poly1305Limbs.reduce_limbs44.
Print Poly1305.limbs44.
Print Poly1305.multiplier44.
Print Poly1305.limbs_number44.
Print Poly1305.lane_blocks44.
Print Poly1305Lanes44.below3.
Print Poly1305Lanes44.carried44.
Print Poly1305Lanes44.add_lanes.
Print Poly1305Lanes44.add_group44.
Print Poly1305Lanes44.exponents.
Print Poly1305Lanes44.power44.
Print Poly1305Lanes44.same_multipliers44.
Print Poly1305Lanes44.last_multipliers44.
Print Poly1305Lanes44.two_calls44.
Print Poly1305Lanes44.whole44.
Print Poly1305Lanes44.start44.
Check Poly1305Lanes44.multiply_two_number.
Check Poly1305Lanes44.reduce_limbs44_number.
Check Poly1305Lanes44.lanes44_are_the_polynomial.
Check Poly1305Lanes44.lanes44_are_poly1305.

Print Poly1305Limbs.product_limbs.
Print Poly1305Limbs.multiply_pair.
Print Poly1305Limbs.add_pair.
Print Poly1305.lane_pairs.
Print Poly1305Pairs.add_lane_pairs.
Print Poly1305Pairs.add_group_of_pairs.
Print Poly1305Pairs.pair_exponents.
Print Poly1305Pairs.same_pairs.
Print Poly1305Pairs.last_pairs.
Print Poly1305Pairs.two_calls_of_pairs.
Print Poly1305Pairs.whole_pairs.
Check Poly1305Pairs.multiply_pair_number.
Check Poly1305Pairs.pairs_are_the_polynomial.
Check Poly1305Pairs.pairs_are_poly1305.

(* Poly1305's machine code. *)
Print Poly1305Rows.lanes_at.
Print Poly1305Rows.rows_of.
Print Poly1305Rows.groups_at.
Print Poly1305_x86_64.ends.
Print Poly1305_x86_64.adds_pairs.
Check Poly1305_x86_64.poly1305_add_blocks_x8_x86_64.
Print Poly1305_x86_64.call_of.
Print Poly1305_x86_64.return_of.
Check Poly1305_x86_64.poly1305_add_blocks_x8_polynomial.
Print Poly1305_x16_x86_64.returned_x16.
Print Poly1305_x16_x86_64.ends.
Print Poly1305_x16_x86_64.adds_groups.
Check Poly1305_x16_x86_64.poly1305_add_blocks_x16_x86_64.
Print Poly1305_x16_x86_64.call_of.
Print Poly1305_x16_x86_64.return_of.
Check Poly1305_x16_x86_64.poly1305_add_blocks_x16_polynomial.
Print Poly1305_aarch64.ends.
Print Poly1305_aarch64.adds_quads.
Check Poly1305_aarch64.poly1305_add_blocks_x4_aarch64.
Print Poly1305_aarch64.call_of.
Print Poly1305_aarch64.return_of.
Check Poly1305_aarch64.poly1305_add_blocks_x4_polynomial.

(* Xoodoo and Xoofff. *)
Print Xoodoo.round_constants.
Print Xoodoo.planes.
Print Xoodoo.bytes.
Print Xoodoo.plane.
Print Xoodoo.shift.
Print Xoodoo.theta.
Print Xoodoo.rho_west.
Print Xoodoo.iota.
Print Xoodoo.chi.
Print Xoodoo.rho_east.
Print Xoodoo.round.
Print Xoodoo.permute.
Print Xoofff.block_len.
Print Xoofff.deck.
Print Xoofff.p.
Print Xoofff.roll.
Print Xoofff.first_word.
Print Xoofff.roll_c.
Print Xoofff.roll_e.
Print Xoofff.closing.
Print Xoofff.pad.
Print Xoofff.absorb_block.
Print Xoofff.absorb_blocks.
Print Xoofff.squeeze_blocks.
Print Xoofff.start.
Print Xoofff.append.
Print Xoofff.stream.
Print Xoofff.output.
Print Xoofff.short.
Print XoofffAnswers.xoofff_answer.
Print XoofffAnswers.xoodoo_holds.
Print XoofffAnswers.output_is.
Print XoofffAnswers.strings_hold.
Print XoofffAnswers.xoofff_holds.
Check XoofffHold.xoofff_counts.
Check XoofffHold.xoodoo_answers_hold.
Check XoofffHold.xoofff_answers_hold.
Check XoofffHold.short_example.
Check XoofffHold.squeeze_blocks_example.

(* ChaCha. *)
Print ChaCha.le_number.
Print ChaCha.le_words.
Print ChaCha.le_word_bytes.
Print ChaCha.add_words.
Print ChaCha.rotate_word.
Print ChaCha.quarter_round.
Print ChaCha.transpose.
Print ChaCha.column_round.
Print ChaCha.rotate_row.
Print ChaCha.turn_rows.
Print ChaCha.turn_rows_back.
Print ChaCha.double_round.
Print ChaCha.rounds.
Print ChaCha.constants.
Print ChaCha.start.
Print ChaCha.hchacha.
Print ChaCha.zip_with.
Print ChaCha.block.
Print ChaCha.stream.
Print ChaCha.xchacha.
Print ChaCha.xor_group.
Print ChaCha.xor_blocks.
Print ChaCha.first_rows.
Print ChaCha.last_row.
Print ChaCha.numbers_from.
Print ChaChaHold.counted.
Check ChaChaHold.quarter_round_example.
Check ChaChaHold.block_example.
Check ChaChaHold.blocks_of_zero.
Check ChaChaHold.stream_example.
Check ChaChaHold.hchacha_example.
Check ChaChaHold.xor_blocks_example.

(* ChaCha's machine code. *)
Print ChaChaKernels.groups.
Print ChaChaKernels.bytes_in_memory.
Print ChaCha_aarch64.ends.
Print ChaCha_aarch64.xors.
Check ChaCha_aarch64.chacha8_xor_blocks_x4_aarch64.
Check ChaCha_aarch64.chacha12_xor_blocks_x4_aarch64.
Check ChaCha_aarch64.chacha20_xor_blocks_x4_aarch64.
Print ChaCha_x86_64.ends.
Print ChaCha_x86_64.xors.
Check ChaCha_x86_64.chacha8_xor_blocks_x3_x86_64.
Check ChaCha_x86_64.chacha12_xor_blocks_x3_x86_64.
Check ChaCha_x86_64.chacha20_xor_blocks_x3_x86_64.
Check ChaCha_x6_x86_64.chacha8_xor_blocks_x6_x86_64.
Check ChaCha_x6_x86_64.chacha12_xor_blocks_x6_x86_64.
Check ChaCha_x6_x86_64.chacha20_xor_blocks_x6_x86_64.
Print WordLanes_x86_64.returned_zmm0_to_24.
Print ChaChaWords.number_order.
Print ChaChaWords.number_rows.
Print ChaCha_x16_x86_64.ends.
Print ChaCha_x16_x86_64.xors.
Check ChaCha_x16_x86_64.chacha8_xor_blocks_x16_x86_64.
Check ChaCha_x16_x86_64.chacha12_xor_blocks_x16_x86_64.
Check ChaCha_x16_x86_64.chacha20_xor_blocks_x16_x86_64.

(* Xoofff's machine code. *)
Print XoofffKernels.twice.
Print XoofffKernels.constant_plane.
Print XoofffKernels.moved_bytes.
Print XoofffKernels.constants_x4.
Print XoofffKernels.deck_at.
Print XoofffKernels.blocks.
Check Xoofff_x86_64.xoofff_table_is.
Print Xoofff_aarch64.ends.
Print Xoofff_aarch64.absorbs.
Print Xoofff_aarch64.squeezes.
Check Xoofff_aarch64.xoofff_absorb_blocks_x4_aarch64.
Check Xoofff_aarch64.xoofff_squeeze_blocks_x4_aarch64.
Print Xoofff_x86_64.ends.
Print Xoofff_x86_64.absorbs.
Print Xoofff_x86_64.squeezes.
Check Xoofff_x86_64.xoofff_absorb_blocks_x4_x86_64.
Check Xoofff_x86_64.xoofff_squeeze_blocks_x4_x86_64.
Check Xoofff_x86_64.xoofff_absorb_blocks_x8_x86_64.
Check Xoofff_x86_64.xoofff_squeeze_blocks_x8_x86_64.
Print Xoofff_x16_x86_64.to_register.
Print Xoofff_x16_x86_64.from_register.
Print Xoofff_x16_x86_64.constants_x16.
Check Xoofff_x16_x86_64.xoofff_table_x16_is.
Print WordLanes_x86_64.returned_zmm0_to_24.
Print Xoofff_x16_x86_64.ends.
Check Xoofff_x16_x86_64.xoofff_absorb_blocks_x16_x86_64.
Check Xoofff_x16_x86_64.xoofff_squeeze_blocks_x16_x86_64.

(* NH. *)
Print NH.add_long.
Print NH.multiply_long.
Print NH.sum_long.
Print NH.products.
Print NH.nh_pass.
Print NH.nh.
Print NH.add_unit.
Print NH.add_units.
Print NH.add_group.
Print NH.add_groups.
Print NHHold.padded.
Print NHHold.hash.
Check NHHold.nh_of_a_unit.
Check NHHold.nh_of_64_units.
Check NHHold.add_units_example.
Check NHHold.add_groups_example.
Check NHSums.add_units_are_nh.
Check NHSums.add_groups_are_add_units.

(* NH's machine code. *)
Print NHKernels.units.
Print NHKernels.sums.
Print NHKernels.sum_bytes.
Print NHKernels.unit_groups.
Print NHKernels.lane_sums.
Print NHKernels.turn_unit.
Print NHKernels.key_size.
Print NH_x86_64.ends.
Print NH_x86_64.adds_units.
Print NH_x86_64.adds_groups.
Check NH_x86_64.nh_add_units_x2_x86_64.
Check NH_x86_64.nh_add_units_x4_x86_64.
Check NH_x86_64.nh_add_groups_x4_x86_64.
Print NH_aarch64.ends.
Print NH_aarch64.adds_units.
Check NH_aarch64.nh_add_units_x1_aarch64.
