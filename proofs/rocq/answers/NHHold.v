(** * NHHold: the specification of NH, evaluated by Rocq's kernel on published answers

    Of https://github.com/google/adiantum, test_vectors/ours/NH/NH.json: the first, of one unit (the rest of the key does
    not count), and the first of 64 units.  What the kernels compute is evaluated on the second. *)

From Coq Require Import String List Arith NArith.
From Veriplex Require Import AES Simpira1024 KnownAnswers ChaCha NH.
Import ListNotations.
Local Open Scope N_scope.

Definition padded (n : nat) (x : list byte) : list byte := x ++ zero (n - length x).

Example nh_of_a_unit :
  nh (padded 1072 (unhex
    ("225b80c81805370976144b67c4507f2b2cff56c5d566456835e6d29ae5d0c1fbac59811a60b03d814ba35ba9ccb3fe2dc24d" ++
    "d926ad36cf8c05113b8a991581c8")))
    (padded 1024 (unhex "d382e70435ccf7a4f9b2c5ed5ad958eb")) 16 =
  unhex "41d9ad545a0dcc5348f64c75435ddd77daca7dec913b53165c4b58dc700a7b37".
Proof. vm_compute; reflexivity. Qed.

Definition long_key : list byte := Eval vm_compute in unhex
  ("4ce43c6ea0e30e6435443e0b4d29be04a7aa88e0e0077da82b877d08a659d0a503ae9beed411397d9e1d89e3c6923607a443" ++
   "ad2fd571842dc037ed624e2b8cd51df700bb3d5eccc56ddd17f28925301604d71f847d61a07a49884446c605d1c9a02a86dd" ++
   "d38040a428b3a43b710a7f2d3bcde6ac59da43566e9a3f1e82cfb3a0a146cf2e3205cd68bb51718a1675be497eb363309534" ++
   "e6857e9adde643d659f86ab88f5f5dd9554112f998c6937c3f46ab7c8b28de9ab1f06c432ab370c59dc026cfad9c879b3f7c" ++
   "24ace7d4e814e33ef68a9787632c88dcc523686e94e109c444da8fa79fc452a4181d3c08ca0a3eb4bfbec647e2892b0771d9" ++
   "c86a06d5d0474e074f6bdbdf3df07c5f4970174f9f337e4b723b8c6822f9d2ade4e4b2619db8c25cf03b08b275303ad07df9" ++
   "b200405679e20d3172e2c2d12e27e7c8961ac67eb8c193fb1dbced972f2feaa14049f61dab54462e73f274f16d5ce6a0d473" ++
   "1cbc0781f594e618dc4268b9ebfba3768c8398e996a6a65e0ed1fcb78e8b9ea400760e35925e05a192c40cd1ec8c048e6556" ++
   "43ae16182e3efe4792e1761bb6cc0b82e18c7b43e490ed280be605ea4ac0f112540993dafcf486ff4caa7dbed04aa69d6b27" ++
   "8fb1b53a9bcee25c2935d6e7f3a45e70f6c6de6386f7c9ab42b9e75d1c6873a3edb0a0b61815e6574c21f7f3c6324d074a14" ++
   "deb2c7caf078c485e3dcfb357c6bc0b8cd7a22fce4e8e2986c8edf378e0f2523ddea406fb3077e7a6ba1a1cf24d9ad727a45" ++
   "49cafec72e6daac1082ce6dede73019cdc653adfc61537620b2c9a36ed37d9fca9b332c3de26e7f03f02ed3574eadd32e996" ++
   "7566b8f075988f3ad0c2a1985ff9323100187dc59d155bdc133769fc957a620e8a86ed18783c49f41873cd2e7ba340d701f6" ++
   "c72ac5ce1309b1e52517df9d7e0b50466278b525b2d965fa5bf7fec6e07b7b4e142e0d3ad0e0a0d2eb4d87114228027ea856" ++
   "5b53bd76478f5f8bc7d972f711bb94db0d07b70acc4100cdd0502531c9476bdd3f70243ede02626cb444928e989c0e302f80" ++
   "b95e7590a602f0edb08b44a3592dc308e5d9896a714404c4b2615bf54644dc362efd41f5a13ab393747d545e64dcbcd70748" ++
   "3e7381229c5af6de9442e16c92e76da05ec3d6e984d9ba57ef856a9be69a2bf88dfe9dad702605144507cb72d48b14447440" ++
   "9c298bba400952fcc540b12569aa8f12c4c62b3f739dff52d4ac7743dcd2069a1bfc0c8f6b59a5d4de061634ef7522549c53" ++
   "380b57c7aa782d3a9bddedb50bb0085f57dbfcbe44fd715f7114d51470b6eed0f3376f57553c7c236fbe835cb564fd6d7ce4" ++
   "052bdbc4f5a0d3a61548c250f8f7c2abb56a0d1ab53033f8122dfba62ee5be40ba48ef05c8373a36ad99778784acd8cb7a88" ++
   "3e2d8bbe9a358826e920d466808bf854bacda847351bc4096dff0e607cf368bfe3e9730784f00845976594d1354e670ce3b7" ++
   "617b0922ed18ee0b54c0ab8baa714c40bff7e07e08aa")%string.

Definition long_message : list byte := Eval vm_compute in unhex
  ("1deae52b4c224df31553cb41f5cf0b7bc980c095d27b084b3dcdd83b2f18d47038b2a72f7fbad8edbc8face4e2112d6de6a4" ++
   "3690c27fdfe3dc50db6c56cf7dd6d0cbd69b01bbef1c0a6c9223eb77f9d125dc943030a4963edf524ce7df279f73780c8c7f" ++
   "9dae795d915e4b02a9319cff4673ec0d5ab8eb48199c44e0c881964c470ce71d2a9cd5e0e7d6a088f0f6daa76addfd4f006e" ++
   "257db981192f4ecc8d6ea692cfd86e780af68a43eb600c8b935088d167050cdc4385509163a432146684db049f77956019c6" ++
   "986062e4c6ee7076b059805946ae9926624af0458ff0705b52fcee4d3047c8aee2bc2c737867f100b4da01ad3bc45c6c65ca" ++
   "8422953295204ddc962e61e4c8ec2dbfc15d70f975f2ad0ac9d70a813ca113ec63d4d067f4cc6eb8520846c92a9259d91417" ++
   "de2fc736d5d5fc8a63d55fe3dd55008e5ec9ed041debaec5d0f97328f381d5b460b2428168f3b973072e348e4712ae7ca8c2" ++
   "cead0f6e44a5355e616bfc679c82a1d2fffe607c4002249e8b90a089d98304d8ef9c9628773ee3b0f83dfb918f6f83581e4b" ++
   "64c7f6e08503e3f96bc99e9d5725e4690859284a529c49192449bab182d4cfd01e1dc202424edff72b3d99f699a43ae19d68" ++
   "c808ecec1ca8414a2784e90d95541aca5f5d5a96b95b6ebc397f7a20c5b2600ca378c32b87cceab04d27fb6c5851ce90cad6" ++
   "86914d2c8c82f0c99a0a73b3cba9d4264d74be0e4a6e10eb4eba4eba0d2669875e082b43be974e2a63bc52b7da232311facf" ++
   "89ac905f607a50b7be790b2cf027f0fbaf64c8577ceb1cf736ec0997663154e400cf6824771abc273aad8a017e45e7e4a4eb" ++
   "38629d90ea009c035eb27dd82fe9c93c1a5c211a59456247931bdcd83e078b75d06dcc8dec79a89a51a55018ae449375c1c8" ++
   "1e10591e0bb30630a8668d8ed64d0d8ab428dcfb5d59e0927738faad464625154cca092b31e936e8c267344d5ea08f9ae87f" ++
   "f22a9278de0975e7e5500a2e8863c08fa8730fe51e9ddbce53e042947b5ca15e1e8f0a6e8b1aad937086f169709324e3832f" ++
   "a804ba270a2e03eb69d9560ec41055312c3fd1b2940f28153c02155eec269cc3fca75cb0fac002f9013f0173242250282aca" ++
   "b1f203002fc66f284f4b4f1a9ab8169331607c3d35c8d690de8c8939bd211105e8c4043b65a515cfcf1514f6e72e3c47590b" ++
   "aac0d4ab04149cd7e243c787090327d20aff8dd5803493a22cb14e162d82515c3ce575517bb4d81e59980f75ed021c13f602" ++
   "daf947f745250f58225deff01bdbaeafbec6e1cd70466e039a2077003c32b58f04b66fa231c97cf9846787fb7b13b04d35fd" ++
   "375bf425f00274a069d453614b5468940e08258290fc25b663e2079f42f1bb33eaab92542b9f88c0312bfd365080fc1affab" ++
   "e8c47fb698b92e17ca283ddf0f074320f007eae5cd4e8134")%string.

Definition long_hash : list byte := Eval vm_compute in unhex
  "9d2288fd4143884534fe85c4b9ffe155401d2537d1f8fc2b3af53b69bfa69ded".

Example nh_of_64_units : nh long_key long_message 1024 = long_hash.
Proof. vm_compute; reflexivity. Qed.

(** Two sums of each pass are one. *)
Definition hash (sums : list (list N)) : list byte := flat_map (fun s => little_endian 8 (sum_long s)) sums.

Example add_units_example :
  hash (add_units (repeat [0; 0] 4) (split 4 64 (le_words 256 long_message)) (split 4 67 (le_words 268 long_key))) =
  long_hash.
Proof. vm_compute; reflexivity. Qed.

(** Four sums, one of each lane, are one. *)
Example add_groups_example :
  hash (map (fun lanes => fold_right (zip_with add_long) [0; 0] lanes)
    (add_groups (repeat (repeat [0; 0] 4) 4) (map (split 4 4) (split 16 16 (le_words 256 long_message)))
      (split 4 67 (le_words 268 long_key)))) = long_hash.
Proof. vm_compute; reflexivity. Qed.
