BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0008');
CREATE TABLE assignment (
	id INTEGER NOT NULL, 
	token TEXT NOT NULL, 
	stage_id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	worker_id INTEGER NOT NULL, 
	group_key TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	state TEXT NOT NULL, 
	leased_at BIGINT NOT NULL, 
	expires_at BIGINT NOT NULL, 
	ended_at BIGINT, 
	CONSTRAINT pk_assignment PRIMARY KEY (id), 
	CONSTRAINT fk_assignment_item_id_item FOREIGN KEY(item_id) REFERENCES item (id), 
	CONSTRAINT fk_assignment_stage_id_stage FOREIGN KEY(stage_id) REFERENCES stage (id), 
	CONSTRAINT fk_assignment_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id), 
	CONSTRAINT uq_assignment_token UNIQUE (token), 
	CONSTRAINT uq_assignment_worker_id_stage_id_group_key UNIQUE (worker_id, stage_id, group_key)
);
INSERT INTO "assignment" VALUES(1,'4kVp3-amHnyoQ2y8drjw',1,8,1,'a00003','production','submitted',1800000026000,1800001826000,1800000027000);
INSERT INTO "assignment" VALUES(2,'ACkQdPCVOCZN4_Uh8mil',1,18,2,'g5','gold','submitted',1800000030000,1800001830000,1800000031000);
INSERT INTO "assignment" VALUES(3,'PJRY5CXBegmz6BRalUgx',1,18,3,'g5','gold','submitted',1800000034000,1800001834000,1800000035000);
INSERT INTO "assignment" VALUES(4,'bzfktQK4lTWqm8d5pVL0',1,17,4,'g4','gold','submitted',1800000038000,1800001838000,1800000039000);
INSERT INTO "assignment" VALUES(5,'f0XcZ9F159rAG7Lbt5_p',1,8,5,'a00003','production','submitted',1800000042000,1800001842000,1800000043000);
INSERT INTO "assignment" VALUES(6,'p5saaUTlh3Tvcz81v3dN',1,13,1,'g0','gold','submitted',1800000045000,1800001845000,1800000046000);
INSERT INTO "assignment" VALUES(7,'_zugB5QIdysinUnhsY5t',1,1,2,'a00000','production','submitted',1800000047000,1800001847000,1800000048000);
INSERT INTO "assignment" VALUES(8,'PyuU6QBn5Pb2cr_N9Ukv',1,1,3,'a00000','production','submitted',1800000049000,1800001849000,1800000050000);
INSERT INTO "assignment" VALUES(9,'t-STsBTYFG2UpHQ_vh3v',1,5,4,'a00002','production','submitted',1800000052000,1800001852000,1800000053000);
INSERT INTO "assignment" VALUES(10,'CgSAUPmOVnjiHdGXv7X7',1,5,5,'a00002','production','submitted',1800000054000,1800001854000,1800000055000);
INSERT INTO "assignment" VALUES(11,'k7Zv24Lp6qV8SYf-c_P5',1,10,1,'a00004','production','submitted',1800000057000,1800001857000,1800000058000);
INSERT INTO "assignment" VALUES(12,'hVecTan57BW7OgXE2WOF',1,10,2,'a00004','production','submitted',1800000059000,1800001859000,1800000060000);
INSERT INTO "assignment" VALUES(13,'zMSmBzCN1RZ6uV3gGzGh',1,4,3,'a00001','production','submitted',1800000062000,1800001862000,1800000063000);
INSERT INTO "assignment" VALUES(14,'C_MPVlJ-6nMp48D26RRE',1,4,4,'a00001','production','submitted',1800000064000,1800001864000,1800000065000);
INSERT INTO "assignment" VALUES(15,'UXEt40NsWCetCloyEAki',1,13,5,'g0','gold','submitted',1800000067000,1800001867000,1800000068000);
INSERT INTO "assignment" VALUES(16,'gl4CTzFBCrRBe4aNcQgp',1,18,1,'g5','gold','submitted',1800000069000,1800001869000,1800000070000);
INSERT INTO "assignment" VALUES(17,'6V2YMPofErd0zj-vbfu2',1,16,2,'g3','gold','submitted',1800000071000,1800001871000,1800000072000);
INSERT INTO "assignment" VALUES(18,'IAul2aWSlAjehBOrPJXD',1,7,3,'a00003','production','submitted',1800000073000,1800001873000,1800000074000);
INSERT INTO "assignment" VALUES(19,'DYWoixNNmRK4JVgXVNdm',1,7,4,'a00003','production','submitted',1800000075000,1800001875000,1800000076000);
INSERT INTO "assignment" VALUES(20,'KjXkfhwxgT8KM24wRKps',1,3,5,'a00001','production','submitted',1800000079000,1800001879000,1800000080000);
INSERT INTO "assignment" VALUES(21,'kv65bhzBXE0m5yQSxq2l',1,3,1,'a00001','production','submitted',1800000081000,1800001881000,1800000082000);
INSERT INTO "assignment" VALUES(22,'LzkUiw4kxUuGHjZc7gwn',1,12,2,'a00005','production','submitted',1800000085000,1800001885000,1800000086000);
INSERT INTO "assignment" VALUES(23,'FedsF9on1x3VzAWlTbpI',1,12,3,'a00005','production','submitted',1800000087000,1800001887000,1800000088000);
INSERT INTO "assignment" VALUES(24,'geHl4u-1hVr7tMOtzYQW',1,13,4,'g0','gold','submitted',1800000090000,1800001890000,1800000091000);
INSERT INTO "assignment" VALUES(25,'vhfIXYPc53ikYO9obVAh',1,11,5,'a00005','production','submitted',1800000092000,1800001892000,1800000093000);
INSERT INTO "assignment" VALUES(26,'lJws87f0Cym1UrKKdmvr',1,11,1,'a00005','production','submitted',1800000094000,1800001894000,1800000095000);
INSERT INTO "assignment" VALUES(27,'T31SJNyh3dgKXKGGKDKN',1,6,2,'a00002','production','submitted',1800000098000,1800001898000,1800000099000);
INSERT INTO "assignment" VALUES(28,'y-q_TQo3DaiT-a_eHclV',1,16,3,'g3','gold','submitted',1800000100000,1800001900000,1800000101000);
INSERT INTO "assignment" VALUES(29,'xVuDAcDt8HBwPteape2P',1,9,4,'a00004','production','submitted',1800000103000,1800001903000,1800000104000);
INSERT INTO "assignment" VALUES(30,'2b65uvnHB6MIrd1NibJf',1,18,5,'g5','gold','submitted',1800000105000,1800001905000,1800000106000);
INSERT INTO "assignment" VALUES(31,'f9UK23PlT4keOUfWzmr4',1,6,1,'a00002','production','submitted',1800000107000,1800001907000,1800000108000);
INSERT INTO "assignment" VALUES(32,'-czD7IMduYBw1cJtRKSO',1,2,4,'a00000','production','submitted',1800000113000,1800001913000,1800000114000);
INSERT INTO "assignment" VALUES(33,'mOGkF58mbBI6amVhDUCv',1,16,5,'g3','gold','submitted',1800000115000,1800001915000,1800000116000);
INSERT INTO "assignment" VALUES(34,'dY4ucHIfv55NZ6Rk1fbf',1,2,1,'a00000','production','submitted',1800000117000,1800001917000,1800000118000);
INSERT INTO "assignment" VALUES(35,'xacvC1A_j2yDXeJPVY31',1,15,5,'g2','gold','submitted',1800000125000,1800001925000,1800000126000);
INSERT INTO "assignment" VALUES(36,'4xeG22foGam4QwTMFVNM',1,9,5,'a00004','production','submitted',1800000133000,1800001933000,1800000134000);
INSERT INTO "assignment" VALUES(37,'airI2yfQbI2RnqN0mV6W',2,27,1,'a00005','production','submitted',1800000147000,1800001947000,1800000148000);
INSERT INTO "assignment" VALUES(38,'sFaKzSWO0SdfJ67aCL17',2,30,1,'a00004','production','submitted',1800000149000,1800001949000,1800000150000);
INSERT INTO "assignment" VALUES(39,'opxkypp4Oyd4XCGBJ3ny',2,25,1,'a00003','production','submitted',1800000151000,1800001951000,1800000152000);
INSERT INTO "assignment" VALUES(40,'I5uMZ1m9kiXwII7XVt20',2,29,1,'a00000','production','submitted',1800000153000,1800001953000,1800000154000);
INSERT INTO "assignment" VALUES(41,'2Bs-Ak7hwkmI5u2WSlmH',2,22,1,'h3','gold','submitted',1800000155000,1800001955000,1800000156000);
INSERT INTO "assignment" VALUES(42,'PpF59-ufUV_DApdhXRse',2,26,1,'a00001','production','submitted',1800000157000,1800001957000,1800000158000);
INSERT INTO "assignment" VALUES(43,'TalMlR5K_K9wm5SMrb3L',2,28,1,'a00002','production','submitted',1800000159000,1800001959000,1800000160000);
CREATE TABLE delivery (
	message_id INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_delivery PRIMARY KEY (message_id), 
	CONSTRAINT fk_delivery_message_id_message FOREIGN KEY(message_id) REFERENCES message (id)
);
CREATE TABLE entry (
	id INTEGER NOT NULL, 
	cause TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	worker_id INTEGER NOT NULL, 
	stage_id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	amount BIGINT NOT NULL, 
	reason TEXT NOT NULL, 
	CONSTRAINT pk_entry PRIMARY KEY (id), 
	CONSTRAINT fk_entry_stage_id_stage FOREIGN KEY(stage_id) REFERENCES stage (id), 
	CONSTRAINT fk_entry_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id), 
	CONSTRAINT uq_entry_cause UNIQUE (cause)
);
INSERT INTO "entry" VALUES(1,'response:1:base',1800000027000,1,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(2,'response:1:fee',1800000027000,1,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(3,'response:2:base',1800000031000,2,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(4,'response:2:fee',1800000031000,2,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(5,'response:3:base',1800000035000,3,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(6,'response:3:fee',1800000035000,3,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(7,'response:4:base',1800000039000,4,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(8,'response:4:fee',1800000039000,4,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(9,'response:5:base',1800000043000,5,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(10,'response:5:fee',1800000043000,5,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(11,'response:6:base',1800000046000,1,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(12,'response:7:base',1800000048000,2,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(13,'response:8:base',1800000050000,3,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(14,'response:9:base',1800000053000,4,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(15,'response:10:base',1800000055000,5,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(16,'response:11:base',1800000058000,1,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(17,'response:11:fee',1800000058000,1,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(18,'response:12:base',1800000060000,2,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(19,'response:12:fee',1800000060000,2,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(20,'response:13:base',1800000063000,3,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(21,'response:13:fee',1800000063000,3,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(22,'response:14:base',1800000065000,4,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(23,'response:14:fee',1800000065000,4,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(24,'response:15:base',1800000068000,5,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(25,'response:15:fee',1800000068000,5,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(26,'response:16:base',1800000070000,1,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(27,'response:17:base',1800000072000,2,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(28,'response:18:base',1800000074000,3,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(29,'response:19:base',1800000076000,4,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(30,'response:20:base',1800000080000,5,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(31,'response:21:base',1800000082000,1,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(32,'response:21:fee',1800000082000,1,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(33,'response:22:base',1800000086000,2,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(34,'response:22:fee',1800000086000,2,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(35,'response:23:base',1800000088000,3,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(36,'response:23:fee',1800000088000,3,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(37,'response:24:base',1800000091000,4,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(38,'response:24:fee',1800000091000,4,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(39,'response:25:base',1800000093000,5,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(40,'response:25:fee',1800000093000,5,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(41,'response:26:base',1800000095000,1,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(42,'response:26:fee',1800000095000,1,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(43,'response:27:base',1800000099000,2,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(44,'response:27:fee',1800000099000,2,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(45,'response:28:base',1800000101000,3,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(46,'response:28:fee',1800000101000,3,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(47,'response:29:base',1800000104000,4,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(48,'response:29:fee',1800000104000,4,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(49,'response:30:base',1800000106000,5,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(50,'response:30:fee',1800000106000,5,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(51,'response:31:base',1800000108000,1,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(52,'response:32:base',1800000114000,4,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(53,'response:33:base',1800000116000,5,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(54,'response:34:base',1800000118000,1,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(55,'response:34:fee',1800000118000,1,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(56,'response:35:base',1800000126000,5,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(57,'response:35:fee',1800000126000,5,1,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(58,'response:36:base',1800000134000,5,1,'base',3,'a judgment in meaningful, $0.03 each');
INSERT INTO "entry" VALUES(59,'response:37:base',1800000148000,1,2,'base',4,'a judgment in entailment, $0.04 each');
INSERT INTO "entry" VALUES(60,'response:37:fee',1800000148000,1,2,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(61,'response:38:base',1800000150000,1,2,'base',4,'a judgment in entailment, $0.04 each');
INSERT INTO "entry" VALUES(62,'response:38:fee',1800000150000,1,2,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(63,'response:39:base',1800000152000,1,2,'base',4,'a judgment in entailment, $0.04 each');
INSERT INTO "entry" VALUES(64,'response:40:base',1800000154000,1,2,'base',4,'a judgment in entailment, $0.04 each');
INSERT INTO "entry" VALUES(65,'response:40:fee',1800000154000,1,2,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(66,'response:41:base',1800000156000,1,2,'base',4,'a judgment in entailment, $0.04 each');
INSERT INTO "entry" VALUES(67,'response:41:fee',1800000156000,1,2,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(68,'response:42:base',1800000158000,1,2,'base',4,'a judgment in entailment, $0.04 each');
INSERT INTO "entry" VALUES(69,'response:42:fee',1800000158000,1,2,'fee',1,'20% on this and the payments before, as far as not booked yet');
INSERT INTO "entry" VALUES(70,'response:43:base',1800000160000,1,2,'base',4,'a judgment in entailment, $0.04 each');
INSERT INTO "entry" VALUES(71,'response:43:fee',1800000160000,1,2,'fee',1,'20% on this and the payments before, as far as not booked yet');
CREATE TABLE event (
	id INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	stage_id INTEGER, 
	worker_id INTEGER, 
	item_id INTEGER, 
	evidence TEXT NOT NULL, 
	CONSTRAINT pk_event PRIMARY KEY (id), 
	CONSTRAINT fk_event_item_id_item FOREIGN KEY(item_id) REFERENCES item (id), 
	CONSTRAINT fk_event_stage_id_stage FOREIGN KEY(stage_id) REFERENCES stage (id), 
	CONSTRAINT fk_event_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id)
);
INSERT INTO "event" VALUES(1,1800000001000,'texts',NULL,NULL,NULL,'{"files":{"consent.md":"You agree to take part.\n","guidelines.md":"Say whether it means something.\n"},"sha256":{"consent.md":"1435dc65c329f9e83af962de5eb31fe6a7510415c5cefb030c1fa57d50d2b726","guidelines.md":"dae4369c24f28005955f732df75ea6eb9ba9bc52cf6daf8eacd1d34ab539bee1"}}');
INSERT INTO "event" VALUES(2,1800000002000,'settings',NULL,NULL,NULL,'{"study.toml":"[study]\ntitle = \"A small study\"\ncontact = \"team@example.org\"\nconsent = \"consent.md\"\nseed = 7\n\n[arrival]\nworker_pattern = \"[A-Za-z0-9-]{1,64}\"\ncompletion_code = \"DONE1\"\nscreenout_code = \"OUT1\"\n\n[pay]\nfee_percent = 20\n\n[[stage]]\nname = \"meaningful\"\ntitle = \"Is it meaningful?\"\ntask = \"rules-meaningful\"\nguidelines = \"guidelines.md\"\nitems = { file = \"items.jsonl\" }\njudgments = 2\npay = { per_judgment = 3 }\n\n[stage.gold]\nfile = \"gold1.jsonl\"\nshare = 0.3\nfloor = 0.6\nafter = 2\n\n[[stage]]\nname = \"entailment\"\ntitle = \"Does it follow?\"\ntask = \"rules-entailment\"\nguidelines = \"guidelines.md\"\nitems = { from = \"meaningful\", confidence = 0.7 }\njudgments = 2\npay = { per_judgment = 4 }\noptions = { meaningless_lhs = \"set-aside\" }\n[stage.entry]\nexclude_contributors = false\n[stage.gold]\nfile = \"gold2.jsonl\"\nshare = 0.3\nfloor = 0.6\nafter = 2\n"}');
INSERT INTO "event" VALUES(3,1800000005000,'arrived',NULL,1,NULL,'{"panel":"prolific"}');
INSERT INTO "event" VALUES(4,1800000007000,'consented',NULL,1,NULL,'{"consent":"1435dc65c329f9e83af962de5eb31fe6a7510415c5cefb030c1fa57d50d2b726"}');
INSERT INTO "event" VALUES(5,1800000009000,'arrived',NULL,2,NULL,'{"panel":"prolific"}');
INSERT INTO "event" VALUES(6,1800000011000,'consented',NULL,2,NULL,'{"consent":"1435dc65c329f9e83af962de5eb31fe6a7510415c5cefb030c1fa57d50d2b726"}');
INSERT INTO "event" VALUES(7,1800000013000,'arrived',NULL,3,NULL,'{"panel":"prolific"}');
INSERT INTO "event" VALUES(8,1800000015000,'consented',NULL,3,NULL,'{"consent":"1435dc65c329f9e83af962de5eb31fe6a7510415c5cefb030c1fa57d50d2b726"}');
INSERT INTO "event" VALUES(9,1800000017000,'arrived',NULL,4,NULL,'{"panel":"prolific"}');
INSERT INTO "event" VALUES(10,1800000019000,'consented',NULL,4,NULL,'{"consent":"1435dc65c329f9e83af962de5eb31fe6a7510415c5cefb030c1fa57d50d2b726"}');
INSERT INTO "event" VALUES(11,1800000021000,'arrived',NULL,5,NULL,'{"panel":"prolific"}');
INSERT INTO "event" VALUES(12,1800000023000,'consented',NULL,5,NULL,'{"consent":"1435dc65c329f9e83af962de5eb31fe6a7510415c5cefb030c1fa57d50d2b726"}');
INSERT INTO "event" VALUES(13,1800000025000,'entered',1,1,NULL,'{"reason":"open to everyone"}');
INSERT INTO "event" VALUES(14,1800000029000,'entered',1,2,NULL,'{"reason":"open to everyone"}');
INSERT INTO "event" VALUES(15,1800000033000,'entered',1,3,NULL,'{"reason":"open to everyone"}');
INSERT INTO "event" VALUES(16,1800000037000,'entered',1,4,NULL,'{"reason":"open to everyone"}');
INSERT INTO "event" VALUES(17,1800000041000,'entered',1,5,NULL,'{"reason":"open to everyone"}');
INSERT INTO "event" VALUES(18,1800000044000,'labelled',1,NULL,8,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-v8f4r7d7am","answer":"yes","trust":0.6},{"worker":"w-6s5euf6bpv","answer":"yes","trust":0.6}]}');
INSERT INTO "event" VALUES(19,1800000051000,'labelled',1,NULL,1,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-8akf92dbug","answer":"yes","trust":1.0},{"worker":"w-c68anbkgzh","answer":"no","trust":0.0}]}');
INSERT INTO "event" VALUES(20,1800000056000,'labelled',1,NULL,5,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-d3x2ehmwrx","answer":"yes","trust":1.0},{"worker":"w-6s5euf6bpv","answer":"yes","trust":0.6}]}');
INSERT INTO "event" VALUES(21,1800000061000,'labelled',1,NULL,10,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-v8f4r7d7am","answer":"yes","trust":1.0},{"worker":"w-8akf92dbug","answer":"yes","trust":1.0}]}');
INSERT INTO "event" VALUES(22,1800000066000,'labelled',1,NULL,4,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-c68anbkgzh","answer":"no","trust":0.0},{"worker":"w-d3x2ehmwrx","answer":"yes","trust":1.0}]}');
INSERT INTO "event" VALUES(23,1800000077000,'labelled',1,NULL,7,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-c68anbkgzh","answer":"no","trust":0.0},{"worker":"w-d3x2ehmwrx","answer":"yes","trust":1.0}]}');
INSERT INTO "event" VALUES(24,1800000078000,'derived',2,NULL,NULL,'{"from":"meaningful","sources":[{"item":"a00003:lhs","answer":"yes","confidence":1.0},{"item":"a00003:rhs","answer":"yes","confidence":1.0}],"items":["a00003"]}');
INSERT INTO "event" VALUES(25,1800000083000,'labelled',1,NULL,3,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-6s5euf6bpv","answer":"yes","trust":1.0},{"worker":"w-v8f4r7d7am","answer":"yes","trust":1.0}]}');
INSERT INTO "event" VALUES(26,1800000084000,'derived',2,NULL,NULL,'{"from":"meaningful","sources":[{"item":"a00001:lhs","answer":"yes","confidence":1.0},{"item":"a00001:rhs","answer":"yes","confidence":1.0}],"items":["a00001"]}');
INSERT INTO "event" VALUES(27,1800000089000,'labelled',1,NULL,12,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-8akf92dbug","answer":"yes","trust":1.0},{"worker":"w-c68anbkgzh","answer":"no","trust":0.0}]}');
INSERT INTO "event" VALUES(28,1800000096000,'labelled',1,NULL,11,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-6s5euf6bpv","answer":"yes","trust":1.0},{"worker":"w-v8f4r7d7am","answer":"yes","trust":1.0}]}');
INSERT INTO "event" VALUES(29,1800000097000,'derived',2,NULL,NULL,'{"from":"meaningful","sources":[{"item":"a00005:lhs","answer":"yes","confidence":1.0},{"item":"a00005:rhs","answer":"yes","confidence":1.0}],"items":["a00005"]}');
INSERT INTO "event" VALUES(30,1800000102000,'dropped',1,3,NULL,'{"right":0,"answered":2,"trust":0.0,"floor":0.6,"after":2}');
INSERT INTO "event" VALUES(31,1800000109000,'labelled',1,NULL,6,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-8akf92dbug","answer":"yes","trust":1.0},{"worker":"w-v8f4r7d7am","answer":"yes","trust":1.0}]}');
INSERT INTO "event" VALUES(32,1800000110000,'derived',2,NULL,NULL,'{"from":"meaningful","sources":[{"item":"a00002:lhs","answer":"yes","confidence":1.0},{"item":"a00002:rhs","answer":"yes","confidence":1.0}],"items":["a00002"]}');
INSERT INTO "event" VALUES(33,1800000119000,'labelled',1,NULL,2,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-d3x2ehmwrx","answer":"yes","trust":1.0},{"worker":"w-v8f4r7d7am","answer":"yes","trust":1.0}]}');
INSERT INTO "event" VALUES(34,1800000120000,'derived',2,NULL,NULL,'{"from":"meaningful","sources":[{"item":"a00000:lhs","answer":"yes","confidence":1.0},{"item":"a00000:rhs","answer":"yes","confidence":1.0}],"items":["a00000"]}');
INSERT INTO "event" VALUES(35,1800000135000,'labelled',1,NULL,9,'{"answer":"yes","confidence":1.0,"released":true,"judgments":[{"worker":"w-d3x2ehmwrx","answer":"yes","trust":1.0},{"worker":"w-6s5euf6bpv","answer":"yes","trust":1.0}]}');
INSERT INTO "event" VALUES(36,1800000136000,'derived',2,NULL,NULL,'{"from":"meaningful","sources":[{"item":"a00004:lhs","answer":"yes","confidence":1.0},{"item":"a00004:rhs","answer":"yes","confidence":1.0}],"items":["a00004"]}');
INSERT INTO "event" VALUES(37,1800000146000,'entered',2,1,NULL,'{"reason":"open to everyone"}');
CREATE TABLE gate (
	name TEXT NOT NULL, 
	closed_at BIGINT NOT NULL, 
	CONSTRAINT pk_gate PRIMARY KEY (name)
);
CREATE TABLE gold (
	item_id INTEGER NOT NULL, 
	stage_id INTEGER NOT NULL, 
	position BIGINT NOT NULL, 
	answer TEXT NOT NULL, 
	explanation TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	active BOOLEAN NOT NULL, 
	CONSTRAINT pk_gold PRIMARY KEY (item_id), 
	CONSTRAINT fk_gold_item_id_item FOREIGN KEY(item_id) REFERENCES item (id), 
	CONSTRAINT fk_gold_stage_id_stage FOREIGN KEY(stage_id) REFERENCES stage (id)
);
INSERT INTO "gold" VALUES(13,1,1186301783898478216,'"yes"','The expert says so, gold number 0.','file',1);
INSERT INTO "gold" VALUES(14,1,9040123034066051224,'"no"','The expert says so, gold number 1.','file',1);
INSERT INTO "gold" VALUES(15,1,7487574959883991235,'"yes"','The expert says so, gold number 2.','file',1);
INSERT INTO "gold" VALUES(16,1,5486075422685473141,'"no"','The expert says so, gold number 3.','file',1);
INSERT INTO "gold" VALUES(17,1,120571431090992567,'"yes"','The expert says so, gold number 4.','file',1);
INSERT INTO "gold" VALUES(18,1,5176044262809331232,'"no"','The expert says so, gold number 5.','file',1);
INSERT INTO "gold" VALUES(19,2,7392304929816493075,'"yes"','The expert says so, gold number 0.','file',1);
INSERT INTO "gold" VALUES(20,2,219474704373154273,'"no"','The expert says so, gold number 1.','file',1);
INSERT INTO "gold" VALUES(21,2,219455127835459351,'"yes"','The expert says so, gold number 2.','file',1);
INSERT INTO "gold" VALUES(22,2,5565680377473389355,'"no"','The expert says so, gold number 3.','file',1);
INSERT INTO "gold" VALUES(23,2,6374471640455051882,'"yes"','The expert says so, gold number 4.','file',1);
INSERT INTO "gold" VALUES(24,2,2291600864898766194,'"no"','The expert says so, gold number 5.','file',1);
CREATE TABLE grade (
	id INTEGER NOT NULL, 
	response_id INTEGER NOT NULL, 
	source TEXT NOT NULL, 
	score DOUBLE NOT NULL, 
	reasons TEXT NOT NULL, 
	graded_at BIGINT NOT NULL, criteria TEXT, 
	CONSTRAINT pk_grade PRIMARY KEY (id), 
	CONSTRAINT fk_grade_response_id_response FOREIGN KEY(response_id) REFERENCES response (id), 
	CONSTRAINT uq_grade_response_id_source UNIQUE (response_id, source)
);
INSERT INTO "grade" VALUES(1,2,'gold',1.0,'[]',1800000031000,NULL);
INSERT INTO "grade" VALUES(2,3,'gold',0.0,'["differs from the expert''s answer"]',1800000035000,NULL);
INSERT INTO "grade" VALUES(3,4,'gold',1.0,'[]',1800000039000,NULL);
INSERT INTO "grade" VALUES(4,6,'gold',1.0,'[]',1800000046000,NULL);
INSERT INTO "grade" VALUES(5,15,'gold',1.0,'[]',1800000068000,NULL);
INSERT INTO "grade" VALUES(6,16,'gold',1.0,'[]',1800000070000,NULL);
INSERT INTO "grade" VALUES(7,17,'gold',1.0,'[]',1800000072000,NULL);
INSERT INTO "grade" VALUES(8,24,'gold',1.0,'[]',1800000091000,NULL);
INSERT INTO "grade" VALUES(9,28,'gold',0.0,'["differs from the expert''s answer"]',1800000101000,NULL);
INSERT INTO "grade" VALUES(10,30,'gold',1.0,'[]',1800000106000,NULL);
INSERT INTO "grade" VALUES(11,33,'gold',1.0,'[]',1800000116000,NULL);
INSERT INTO "grade" VALUES(12,35,'gold',1.0,'[]',1800000126000,NULL);
INSERT INTO "grade" VALUES(13,41,'gold',1.0,'[]',1800000156000,NULL);
CREATE TABLE invitation (
	id INTEGER NOT NULL, 
	nonce TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	stage TEXT, 
	most INTEGER, 
	uses INTEGER NOT NULL, 
	made_at BIGINT NOT NULL, 
	made_by TEXT NOT NULL, 
	revoked_at BIGINT, 
	CONSTRAINT pk_invitation PRIMARY KEY (id), 
	CONSTRAINT uq_invitation_nonce UNIQUE (nonce)
);
CREATE TABLE invitation_address (
	address TEXT NOT NULL, 
	invitation_id INTEGER NOT NULL, 
	CONSTRAINT pk_invitation_address PRIMARY KEY (address), 
	CONSTRAINT fk_invitation_address_invitation_id_invitation FOREIGN KEY(invitation_id) REFERENCES invitation (id)
);
CREATE TABLE item (
	id INTEGER NOT NULL, 
	stage_id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	group_key TEXT NOT NULL, 
	payload TEXT NOT NULL, 
	position BIGINT NOT NULL, 
	state TEXT NOT NULL, 
	wanted INTEGER NOT NULL, 
	taken INTEGER NOT NULL, 
	label TEXT, 
	confidence DOUBLE, 
	counted INTEGER NOT NULL, 
	released BOOLEAN NOT NULL, sampled BOOLEAN DEFAULT 0 NOT NULL, response_id INTEGER REFERENCES response (id), 
	CONSTRAINT pk_item PRIMARY KEY (id), 
	CONSTRAINT ck_item_not_over_assigned CHECK (taken >= 0 AND taken <= wanted), 
	CONSTRAINT fk_item_stage_id_stage FOREIGN KEY(stage_id) REFERENCES stage (id), 
	CONSTRAINT uq_item_stage_id_key UNIQUE (stage_id, "key")
);
INSERT INTO "item" VALUES(1,1,'a00000:lhs','a00000','{"application":{"lhs":"the crew paint the hull 0","rhs":"the crew cover the hull 0","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew paint the hull 0","side":"lhs"}',338670681660345686,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(2,1,'a00000:rhs','a00000','{"application":{"lhs":"the crew paint the hull 0","rhs":"the crew cover the hull 0","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew cover the hull 0","side":"rhs"}',8461417527721810580,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(3,1,'a00001:lhs','a00001','{"application":{"lhs":"the crew paint the hull 1","rhs":"the crew cover the hull 1","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew paint the hull 1","side":"lhs"}',2198994766786928359,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(4,1,'a00001:rhs','a00001','{"application":{"lhs":"the crew paint the hull 1","rhs":"the crew cover the hull 1","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew cover the hull 1","side":"rhs"}',1931228189921733945,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(5,1,'a00002:lhs','a00002','{"application":{"lhs":"the crew paint the hull 2","rhs":"the crew cover the hull 2","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew paint the hull 2","side":"lhs"}',1605518937223613837,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(6,1,'a00002:rhs','a00002','{"application":{"lhs":"the crew paint the hull 2","rhs":"the crew cover the hull 2","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew cover the hull 2","side":"rhs"}',7691776985152215271,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(7,1,'a00003:lhs','a00003','{"application":{"lhs":"the crew paint the hull 3","rhs":"the crew cover the hull 3","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew paint the hull 3","side":"lhs"}',2759637744465312122,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(8,1,'a00003:rhs','a00003','{"application":{"lhs":"the crew paint the hull 3","rhs":"the crew cover the hull 3","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew cover the hull 3","side":"rhs"}',40758324227763638,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(9,1,'a00004:lhs','a00004','{"application":{"lhs":"the crew paint the hull 4","rhs":"the crew cover the hull 4","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew paint the hull 4","side":"lhs"}',7606008511434336170,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(10,1,'a00004:rhs','a00004','{"application":{"lhs":"the crew paint the hull 4","rhs":"the crew cover the hull 4","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew cover the hull 4","side":"rhs"}',1768839635435568750,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(11,1,'a00005:lhs','a00005','{"application":{"lhs":"the crew paint the hull 5","rhs":"the crew cover the hull 5","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew paint the hull 5","side":"lhs"}',6865362489953689122,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(12,1,'a00005:rhs','a00005','{"application":{"lhs":"the crew paint the hull 5","rhs":"the crew cover the hull 5","rule_lhs":"paint","rule_rhs":"cover"},"phrase":"the crew cover the hull 5","side":"rhs"}',5363044195092354815,'complete',2,2,'"yes"',1.0,2,1,0,NULL);
INSERT INTO "item" VALUES(13,1,'g0','g0','{"application":null,"phrase":"a gold phrase 0","side":null}',6595745853322627113,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(14,1,'g1','g1','{"application":null,"phrase":"a gold phrase 1","side":null}',6068447760887757225,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(15,1,'g2','g2','{"application":null,"phrase":"a gold phrase 2","side":null}',1855682793920091273,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(16,1,'g3','g3','{"application":null,"phrase":"a gold phrase 3","side":null}',4070761791000529820,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(17,1,'g4','g4','{"application":null,"phrase":"a gold phrase 4","side":null}',260221165116316832,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(18,1,'g5','g5','{"application":null,"phrase":"a gold phrase 5","side":null}',68264826196119266,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(19,2,'h0','h0','{"lhs":"gold left 0","rhs":"gold right 0","rule_lhs":"","rule_rhs":""}',1063910993358804776,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(20,2,'h1','h1','{"lhs":"gold left 1","rhs":"gold right 1","rule_lhs":"","rule_rhs":""}',7973150157954398490,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(21,2,'h2','h2','{"lhs":"gold left 2","rhs":"gold right 2","rule_lhs":"","rule_rhs":""}',7605325193235039799,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(22,2,'h3','h3','{"lhs":"gold left 3","rhs":"gold right 3","rule_lhs":"","rule_rhs":""}',3101620896606915678,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(23,2,'h4','h4','{"lhs":"gold left 4","rhs":"gold right 4","rule_lhs":"","rule_rhs":""}',3564265636786854389,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(24,2,'h5','h5','{"lhs":"gold left 5","rhs":"gold right 5","rule_lhs":"","rule_rhs":""}',3724388319773845417,'complete',0,0,NULL,NULL,0,0,0,NULL);
INSERT INTO "item" VALUES(25,2,'a00003','a00003','{"lhs":"the crew paint the hull 3","rhs":"the crew cover the hull 3","rule_lhs":"paint","rule_rhs":"cover"}',4001615423195463602,'open',2,1,NULL,NULL,1,0,0,NULL);
INSERT INTO "item" VALUES(26,2,'a00001','a00001','{"lhs":"the crew paint the hull 1","rhs":"the crew cover the hull 1","rule_lhs":"paint","rule_rhs":"cover"}',7244339828497975090,'open',2,1,NULL,NULL,1,0,0,NULL);
INSERT INTO "item" VALUES(27,2,'a00005','a00005','{"lhs":"the crew paint the hull 5","rhs":"the crew cover the hull 5","rule_lhs":"paint","rule_rhs":"cover"}',1749712471399727411,'open',2,1,NULL,NULL,1,0,0,NULL);
INSERT INTO "item" VALUES(28,2,'a00002','a00002','{"lhs":"the crew paint the hull 2","rhs":"the crew cover the hull 2","rule_lhs":"paint","rule_rhs":"cover"}',9047032662298614287,'open',2,1,NULL,NULL,1,0,0,NULL);
INSERT INTO "item" VALUES(29,2,'a00000','a00000','{"lhs":"the crew paint the hull 0","rhs":"the crew cover the hull 0","rule_lhs":"paint","rule_rhs":"cover"}',6850112706317663144,'open',2,1,NULL,NULL,1,0,0,NULL);
INSERT INTO "item" VALUES(30,2,'a00004','a00004','{"lhs":"the crew paint the hull 4","rhs":"the crew cover the hull 4","rule_lhs":"paint","rule_rhs":"cover"}',3035385334809673470,'open',2,1,NULL,NULL,1,0,0,NULL);
CREATE TABLE item_source (
	item_id INTEGER NOT NULL, 
	source_id INTEGER NOT NULL, 
	CONSTRAINT pk_item_source PRIMARY KEY (item_id, source_id), 
	CONSTRAINT fk_item_source_item_id_item FOREIGN KEY(item_id) REFERENCES item (id), 
	CONSTRAINT fk_item_source_source_id_item FOREIGN KEY(source_id) REFERENCES item (id)
);
INSERT INTO "item_source" VALUES(25,7);
INSERT INTO "item_source" VALUES(25,8);
INSERT INTO "item_source" VALUES(26,3);
INSERT INTO "item_source" VALUES(26,4);
INSERT INTO "item_source" VALUES(27,11);
INSERT INTO "item_source" VALUES(27,12);
INSERT INTO "item_source" VALUES(28,5);
INSERT INTO "item_source" VALUES(28,6);
INSERT INTO "item_source" VALUES(29,1);
INSERT INTO "item_source" VALUES(29,2);
INSERT INTO "item_source" VALUES(30,9);
INSERT INTO "item_source" VALUES(30,10);
CREATE TABLE message (
	id INTEGER NOT NULL, 
	worker_id INTEGER NOT NULL, 
	cause TEXT NOT NULL, 
	written_at BIGINT NOT NULL, 
	title TEXT NOT NULL, 
	body TEXT NOT NULL, 
	state TEXT NOT NULL, 
	sent_at BIGINT, 
	read_at BIGINT, 
	CONSTRAINT pk_message PRIMARY KEY (id), 
	CONSTRAINT fk_message_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id), 
	CONSTRAINT uq_message_worker_id_cause UNIQUE (worker_id, cause)
);
CREATE TABLE mturk_assignment (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	hit_id INTEGER NOT NULL, 
	worker_id INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	accepted_at BIGINT NOT NULL, 
	deadline BIGINT NOT NULL, 
	submitted_at BIGINT, 
	approve_at BIGINT, 
	approved_at BIGINT, 
	rejected_at BIGINT, 
	answer TEXT, 
	feedback TEXT, 
	reward BIGINT NOT NULL, 
	CONSTRAINT pk_mturk_assignment PRIMARY KEY (id), 
	CONSTRAINT fk_mturk_assignment_hit_id_mturk_hit FOREIGN KEY(hit_id) REFERENCES mturk_hit (id), 
	CONSTRAINT fk_mturk_assignment_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id), 
	CONSTRAINT uq_mturk_assignment_name UNIQUE (name)
);
CREATE TABLE mturk_block (
	worker_id INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_mturk_block PRIMARY KEY (worker_id), 
	CONSTRAINT fk_mturk_block_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id)
);
CREATE TABLE mturk_bonus (
	id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	worker_id INTEGER NOT NULL, 
	amount BIGINT NOT NULL, 
	reason TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_mturk_bonus PRIMARY KEY (id), 
	CONSTRAINT fk_mturk_bonus_assignment_id_mturk_assignment FOREIGN KEY(assignment_id) REFERENCES mturk_assignment (id), 
	CONSTRAINT fk_mturk_bonus_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id)
);
CREATE TABLE mturk_hit (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	type_id INTEGER NOT NULL, 
	question TEXT NOT NULL, 
	annotation TEXT NOT NULL, 
	layout TEXT, 
	most INTEGER NOT NULL, 
	taken INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT NOT NULL, 
	reviewing BOOLEAN NOT NULL, 
	disposed_at BIGINT, 
	told TEXT NOT NULL, policies TEXT, reviewed_at BIGINT, 
	CONSTRAINT pk_mturk_hit PRIMARY KEY (id), 
	CONSTRAINT ck_mturk_hit_not_over_assigned CHECK (taken >= 0 AND taken <= most), 
	CONSTRAINT fk_mturk_hit_type_id_mturk_hit_type FOREIGN KEY(type_id) REFERENCES mturk_hit_type (id), 
	CONSTRAINT uq_mturk_hit_name UNIQUE (name)
);
CREATE TABLE mturk_hit_type (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	title TEXT NOT NULL, 
	description TEXT NOT NULL, 
	keywords TEXT NOT NULL, 
	reward BIGINT NOT NULL, 
	assignment_seconds BIGINT NOT NULL, 
	approval_seconds BIGINT NOT NULL, 
	requirements TEXT NOT NULL, 
	notification TEXT, 
	notifying BOOLEAN NOT NULL, 
	CONSTRAINT pk_mturk_hit_type PRIMARY KEY (id), 
	CONSTRAINT uq_mturk_hit_type_name UNIQUE (name)
);
CREATE TABLE mturk_key (
	id INTEGER NOT NULL, 
	access_key TEXT NOT NULL, 
	secret TEXT NOT NULL, 
	name TEXT NOT NULL, 
	made_at BIGINT NOT NULL, 
	revoked_at BIGINT, 
	CONSTRAINT pk_mturk_key PRIMARY KEY (id), 
	CONSTRAINT uq_mturk_key_access_key UNIQUE (access_key)
);
CREATE TABLE mturk_notification (
	id INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	transport TEXT NOT NULL, 
	destination TEXT NOT NULL, 
	body TEXT NOT NULL, 
	tries INTEGER NOT NULL, 
	due_at BIGINT, 
	sent_at BIGINT, 
	CONSTRAINT pk_mturk_notification PRIMARY KEY (id)
);
CREATE TABLE mturk_qualification (
	id INTEGER NOT NULL, 
	type_id INTEGER NOT NULL, 
	worker_id INTEGER NOT NULL, 
	value BIGINT NOT NULL, 
	status TEXT NOT NULL, 
	granted_at BIGINT NOT NULL, 
	CONSTRAINT pk_mturk_qualification PRIMARY KEY (id), 
	CONSTRAINT fk_mturk_qualification_type_id_mturk_qualification_type FOREIGN KEY(type_id) REFERENCES mturk_qualification_type (id), 
	CONSTRAINT fk_mturk_qualification_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id)
);
CREATE TABLE mturk_qualification_request (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	type_id INTEGER NOT NULL, 
	worker_id INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	answer TEXT, 
	reason TEXT, 
	CONSTRAINT pk_mturk_qualification_request PRIMARY KEY (id), 
	CONSTRAINT fk_mturk_qualification_request_type_id_mturk_qualification_type FOREIGN KEY(type_id) REFERENCES mturk_qualification_type (id), 
	CONSTRAINT fk_mturk_qualification_request_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id), 
	CONSTRAINT uq_mturk_qualification_request_name UNIQUE (name)
);
CREATE TABLE mturk_qualification_type (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	title TEXT NOT NULL, 
	keywords TEXT NOT NULL, 
	description TEXT NOT NULL, 
	status TEXT NOT NULL, 
	test TEXT, 
	answer_key TEXT, 
	test_seconds BIGINT, 
	retry_seconds BIGINT, 
	auto_value BIGINT, 
	created_at BIGINT NOT NULL, 
	deleted_at BIGINT, 
	CONSTRAINT pk_mturk_qualification_type PRIMARY KEY (id), 
	CONSTRAINT uq_mturk_qualification_type_name UNIQUE (name)
);
CREATE TABLE mturk_request (
	operation TEXT NOT NULL, 
	token TEXT NOT NULL, 
	made TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_mturk_request PRIMARY KEY (operation, token)
);
CREATE TABLE mturk_review_action (
	id INTEGER NOT NULL, 
	hit_id INTEGER NOT NULL, 
	level TEXT NOT NULL, 
	name TEXT NOT NULL, 
	target TEXT NOT NULL, 
	failure TEXT, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_mturk_review_action PRIMARY KEY (id), 
	CONSTRAINT fk_mturk_review_action_hit_id_mturk_hit FOREIGN KEY(hit_id) REFERENCES mturk_hit (id)
);
CREATE TABLE mturk_signature (
	signature TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_mturk_signature PRIMARY KEY (signature)
);
CREATE TABLE panel_study (
	name TEXT NOT NULL, 
	marker TEXT NOT NULL, 
	external_id TEXT, 
	group_id TEXT, 
	state TEXT NOT NULL, 
	reward BIGINT NOT NULL, 
	places INTEGER NOT NULL, 
	asked TEXT NOT NULL, 
	completion_code TEXT NOT NULL, 
	screenout_code TEXT NOT NULL, 
	made_at BIGINT NOT NULL, 
	published_at BIGINT, 
	CONSTRAINT pk_panel_study PRIMARY KEY (name), 
	CONSTRAINT uq_panel_study_marker UNIQUE (marker), 
	CONSTRAINT uq_panel_study_external_id UNIQUE (external_id)
);
CREATE TABLE participation (
	stage_id INTEGER NOT NULL, 
	worker_id INTEGER NOT NULL, 
	standing TEXT NOT NULL, 
	entered_at BIGINT NOT NULL, 
	seed BIGINT NOT NULL, 
	served INTEGER NOT NULL, 
	answered INTEGER NOT NULL, 
	gold_answered INTEGER NOT NULL, 
	gold_right INTEGER NOT NULL, 
	earned BIGINT NOT NULL, 
	fees BIGINT NOT NULL, 
	exact_fees BIGINT NOT NULL, 
	worked_ms BIGINT NOT NULL, 
	item_cursor BIGINT NOT NULL, 
	gold_cursor BIGINT NOT NULL, 
	changes INTEGER NOT NULL, 
	settled INTEGER NOT NULL, gold_recent TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_participation PRIMARY KEY (stage_id, worker_id), 
	CONSTRAINT fk_participation_stage_id_stage FOREIGN KEY(stage_id) REFERENCES stage (id), 
	CONSTRAINT fk_participation_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id)
);
INSERT INTO "participation" VALUES(1,1,'active',1800000024000,687716058859957628,8,8,2,2,24,5,48000,8000,8461417527721810580,5176044262809331232,1,0,'');
INSERT INTO "participation" VALUES(1,2,'active',1800000028000,611958045337912726,6,6,2,2,18,4,36000,6000,7691776985152215271,5486075422685473141,1,0,'');
INSERT INTO "participation" VALUES(1,3,'dropped',1800000032000,3566371746497035446,6,6,2,0,18,4,36000,6000,5363044195092354815,5486075422685473141,2,0,'');
INSERT INTO "participation" VALUES(1,4,'active',1800000036000,3309483283340788678,7,7,2,2,21,4,42000,7000,8461417527721810580,1186301783898478216,1,0,'');
INSERT INTO "participation" VALUES(1,5,'active',1800000040000,2573297186867054999,9,9,4,4,27,5,54000,9000,7606008511434336170,7487574959883991235,1,0,'');
INSERT INTO "participation" VALUES(2,1,'active',1800000145000,2566869160867277281,7,7,1,1,28,6,56000,7000,9047032662298614287,5565680377473389355,1,0,'');
CREATE TABLE payment (
	id INTEGER NOT NULL, 
	payout_id INTEGER NOT NULL, 
	worker_id INTEGER NOT NULL, 
	amount BIGINT NOT NULL, 
	up_to_entry INTEGER NOT NULL, 
	submission_id TEXT, 
	bonuses_before TEXT NOT NULL, 
	reported_at BIGINT, 
	CONSTRAINT pk_payment PRIMARY KEY (id), 
	CONSTRAINT fk_payment_payout_id_payout FOREIGN KEY(payout_id) REFERENCES payout (id), 
	CONSTRAINT fk_payment_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id), 
	CONSTRAINT fk_payment_up_to_entry_entry FOREIGN KEY(up_to_entry) REFERENCES entry (id), 
	CONSTRAINT fk_payment_submission_id_submission FOREIGN KEY(submission_id) REFERENCES submission (external_id), 
	CONSTRAINT uq_payment_worker_id_up_to_entry UNIQUE (worker_id, up_to_entry)
);
CREATE TABLE payout (
	id INTEGER NOT NULL, 
	platform TEXT NOT NULL, 
	panel_study TEXT, 
	state TEXT NOT NULL, 
	external_id TEXT, 
	currency TEXT NOT NULL, 
	amount BIGINT NOT NULL, 
	charged BIGINT, 
	made_at BIGINT NOT NULL, 
	sent_at BIGINT, 
	settled_at BIGINT, 
	CONSTRAINT pk_payout PRIMARY KEY (id), 
	CONSTRAINT fk_payout_panel_study_panel_study FOREIGN KEY(panel_study) REFERENCES panel_study (name)
);
CREATE TABLE qualification (
	worker_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	granted_at BIGINT NOT NULL, 
	CONSTRAINT pk_qualification PRIMARY KEY (worker_id, name), 
	CONSTRAINT fk_qualification_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id)
);
CREATE TABLE requester (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	password_hash TEXT, 
	session_version INTEGER NOT NULL, revoked_at BIGINT, 
	CONSTRAINT pk_requester PRIMARY KEY (id), 
	CONSTRAINT uq_requester_name UNIQUE (name)
);
CREATE TABLE response (
	id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	stage_id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	worker_id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	answer TEXT NOT NULL, 
	task_version INTEGER NOT NULL, 
	submitted_at BIGINT NOT NULL, 
	duration_ms BIGINT NOT NULL, 
	idempotency_key TEXT NOT NULL, 
	CONSTRAINT pk_response PRIMARY KEY (id), 
	CONSTRAINT fk_response_assignment_id_assignment FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT fk_response_item_id_item FOREIGN KEY(item_id) REFERENCES item (id), 
	CONSTRAINT fk_response_stage_id_stage FOREIGN KEY(stage_id) REFERENCES stage (id), 
	CONSTRAINT fk_response_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id), 
	CONSTRAINT uq_response_assignment_id UNIQUE (assignment_id)
);
INSERT INTO "response" VALUES(1,1,1,8,1,'production','"yes"',1,1800000027000,1000,'key-00000001');
INSERT INTO "response" VALUES(2,2,1,18,2,'gold','"no"',1,1800000031000,1000,'key-00000001');
INSERT INTO "response" VALUES(3,3,1,18,3,'gold','"yes"',1,1800000035000,1000,'key-00000001');
INSERT INTO "response" VALUES(4,4,1,17,4,'gold','"yes"',1,1800000039000,1000,'key-00000001');
INSERT INTO "response" VALUES(5,5,1,8,5,'production','"yes"',1,1800000043000,1000,'key-00000001');
INSERT INTO "response" VALUES(6,6,1,13,1,'gold','"yes"',1,1800000046000,1000,'key-00000001');
INSERT INTO "response" VALUES(7,7,1,1,2,'production','"yes"',1,1800000048000,1000,'key-00000001');
INSERT INTO "response" VALUES(8,8,1,1,3,'production','"no"',1,1800000050000,1000,'key-00000001');
INSERT INTO "response" VALUES(9,9,1,5,4,'production','"yes"',1,1800000053000,1000,'key-00000001');
INSERT INTO "response" VALUES(10,10,1,5,5,'production','"yes"',1,1800000055000,1000,'key-00000001');
INSERT INTO "response" VALUES(11,11,1,10,1,'production','"yes"',1,1800000058000,1000,'key-00000001');
INSERT INTO "response" VALUES(12,12,1,10,2,'production','"yes"',1,1800000060000,1000,'key-00000001');
INSERT INTO "response" VALUES(13,13,1,4,3,'production','"no"',1,1800000063000,1000,'key-00000001');
INSERT INTO "response" VALUES(14,14,1,4,4,'production','"yes"',1,1800000065000,1000,'key-00000001');
INSERT INTO "response" VALUES(15,15,1,13,5,'gold','"yes"',1,1800000068000,1000,'key-00000001');
INSERT INTO "response" VALUES(16,16,1,18,1,'gold','"no"',1,1800000070000,1000,'key-00000001');
INSERT INTO "response" VALUES(17,17,1,16,2,'gold','"no"',1,1800000072000,1000,'key-00000001');
INSERT INTO "response" VALUES(18,18,1,7,3,'production','"no"',1,1800000074000,1000,'key-00000001');
INSERT INTO "response" VALUES(19,19,1,7,4,'production','"yes"',1,1800000076000,1000,'key-00000001');
INSERT INTO "response" VALUES(20,20,1,3,5,'production','"yes"',1,1800000080000,1000,'key-00000001');
INSERT INTO "response" VALUES(21,21,1,3,1,'production','"yes"',1,1800000082000,1000,'key-00000001');
INSERT INTO "response" VALUES(22,22,1,12,2,'production','"yes"',1,1800000086000,1000,'key-00000001');
INSERT INTO "response" VALUES(23,23,1,12,3,'production','"no"',1,1800000088000,1000,'key-00000001');
INSERT INTO "response" VALUES(24,24,1,13,4,'gold','"yes"',1,1800000091000,1000,'key-00000001');
INSERT INTO "response" VALUES(25,25,1,11,5,'production','"yes"',1,1800000093000,1000,'key-00000001');
INSERT INTO "response" VALUES(26,26,1,11,1,'production','"yes"',1,1800000095000,1000,'key-00000001');
INSERT INTO "response" VALUES(27,27,1,6,2,'production','"yes"',1,1800000099000,1000,'key-00000001');
INSERT INTO "response" VALUES(28,28,1,16,3,'gold','"yes"',1,1800000101000,1000,'key-00000001');
INSERT INTO "response" VALUES(29,29,1,9,4,'production','"yes"',1,1800000104000,1000,'key-00000001');
INSERT INTO "response" VALUES(30,30,1,18,5,'gold','"no"',1,1800000106000,1000,'key-00000001');
INSERT INTO "response" VALUES(31,31,1,6,1,'production','"yes"',1,1800000108000,1000,'key-00000001');
INSERT INTO "response" VALUES(32,32,1,2,4,'production','"yes"',1,1800000114000,1000,'key-00000001');
INSERT INTO "response" VALUES(33,33,1,16,5,'gold','"no"',1,1800000116000,1000,'key-00000001');
INSERT INTO "response" VALUES(34,34,1,2,1,'production','"yes"',1,1800000118000,1000,'key-00000001');
INSERT INTO "response" VALUES(35,35,1,15,5,'gold','"yes"',1,1800000126000,1000,'key-00000001');
INSERT INTO "response" VALUES(36,36,1,9,5,'production','"yes"',1,1800000134000,1000,'key-00000001');
INSERT INTO "response" VALUES(37,37,2,27,1,'production','"yes"',1,1800000148000,1000,'key-00000001');
INSERT INTO "response" VALUES(38,38,2,30,1,'production','"yes"',1,1800000150000,1000,'key-00000001');
INSERT INTO "response" VALUES(39,39,2,25,1,'production','"yes"',1,1800000152000,1000,'key-00000001');
INSERT INTO "response" VALUES(40,40,2,29,1,'production','"yes"',1,1800000154000,1000,'key-00000001');
INSERT INTO "response" VALUES(41,41,2,22,1,'gold','"no"',1,1800000156000,1000,'key-00000001');
INSERT INTO "response" VALUES(42,42,2,26,1,'production','"yes"',1,1800000158000,1000,'key-00000001');
INSERT INTO "response" VALUES(43,43,2,28,1,'production','"yes"',1,1800000160000,1000,'key-00000001');
CREATE TABLE setting (
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_setting PRIMARY KEY ("key")
);
INSERT INTO "setting" VALUES('texts','{"consent.md":"You agree to take part.\n","guidelines.md":"Say whether it means something.\n"}');
INSERT INTO "setting" VALUES('seed','7');
INSERT INTO "setting" VALUES('study','[study]
title = "A small study"
contact = "team@example.org"
consent = "consent.md"
seed = 7

[arrival]
worker_pattern = "[A-Za-z0-9-]{1,64}"
completion_code = "DONE1"
screenout_code = "OUT1"

[pay]
fee_percent = 20

[[stage]]
name = "meaningful"
title = "Is it meaningful?"
task = "rules-meaningful"
guidelines = "guidelines.md"
items = { file = "items.jsonl" }
judgments = 2
pay = { per_judgment = 3 }

[stage.gold]
file = "gold1.jsonl"
share = 0.3
floor = 0.6
after = 2

[[stage]]
name = "entailment"
title = "Does it follow?"
task = "rules-entailment"
guidelines = "guidelines.md"
items = { from = "meaningful", confidence = 0.7 }
judgments = 2
pay = { per_judgment = 4 }
options = { meaningless_lhs = "set-aside" }
[stage.entry]
exclude_contributors = false
[stage.gold]
file = "gold2.jsonl"
share = 0.3
floor = 0.6
after = 2
');
INSERT INTO "setting" VALUES('unsettled','no');
CREATE TABLE stage (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	task TEXT NOT NULL, 
	task_version INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	CONSTRAINT pk_stage PRIMARY KEY (id), 
	CONSTRAINT uq_stage_name UNIQUE (name)
);
INSERT INTO "stage" VALUES(1,'meaningful',0,'rules-meaningful',1,'open');
INSERT INTO "stage" VALUES(2,'entailment',1,'rules-entailment',1,'open');
CREATE TABLE submission (
	external_id TEXT NOT NULL, 
	panel_study TEXT NOT NULL, 
	participant TEXT NOT NULL, 
	worker_id INTEGER, 
	status TEXT NOT NULL, 
	code TEXT, 
	rewarded BIGINT NOT NULL, 
	arrived_at BIGINT, 
	reported_at BIGINT, 
	CONSTRAINT pk_submission PRIMARY KEY (external_id), 
	CONSTRAINT fk_submission_panel_study_panel_study FOREIGN KEY(panel_study) REFERENCES panel_study (name), 
	CONSTRAINT fk_submission_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id)
);
CREATE TABLE verdict (
	gate TEXT NOT NULL, 
	worker_id INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	score DOUBLE NOT NULL, 
	passed BOOLEAN NOT NULL, 
	evidence TEXT NOT NULL, 
	CONSTRAINT pk_verdict PRIMARY KEY (gate, worker_id), 
	CONSTRAINT fk_verdict_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id)
);
CREATE TABLE worker (
	id INTEGER NOT NULL, 
	pseudonym TEXT NOT NULL, 
	arrived_at BIGINT NOT NULL, 
	consented_at BIGINT, arm TEXT, 
	CONSTRAINT pk_worker PRIMARY KEY (id), 
	CONSTRAINT uq_worker_pseudonym UNIQUE (pseudonym)
);
INSERT INTO "worker" VALUES(1,'w-v8f4r7d7am',1800000004000,1800000006000,NULL);
INSERT INTO "worker" VALUES(2,'w-8akf92dbug',1800000008000,1800000010000,NULL);
INSERT INTO "worker" VALUES(3,'w-c68anbkgzh',1800000012000,1800000014000,NULL);
INSERT INTO "worker" VALUES(4,'w-d3x2ehmwrx',1800000016000,1800000018000,NULL);
INSERT INTO "worker" VALUES(5,'w-6s5euf6bpv',1800000020000,1800000022000,NULL);
CREATE TABLE worker_identity (
	worker_id INTEGER NOT NULL, 
	panel TEXT NOT NULL, 
	external_id TEXT NOT NULL, 
	visit TEXT NOT NULL, 
	CONSTRAINT pk_worker_identity PRIMARY KEY (panel, external_id), 
	CONSTRAINT fk_worker_identity_worker_id_worker FOREIGN KEY(worker_id) REFERENCES worker (id)
);
INSERT INTO "worker_identity" VALUES(1,'prolific','person-0','{}');
INSERT INTO "worker_identity" VALUES(2,'prolific','person-1','{}');
INSERT INTO "worker_identity" VALUES(3,'prolific','person-2','{}');
INSERT INTO "worker_identity" VALUES(4,'prolific','person-3','{}');
INSERT INTO "worker_identity" VALUES(5,'prolific','person-4','{}');
CREATE INDEX ix_entry_worker ON entry (worker_id, kind);
CREATE INDEX ix_item_group ON item (stage_id, group_key);
CREATE INDEX ix_item_offered ON item (stage_id, position) WHERE state = 'open' AND taken < wanted;
CREATE INDEX ix_item_open ON item (stage_id) WHERE state = 'open';
CREATE INDEX ix_participation_unsettled ON participation (stage_id) WHERE changes > settled;
CREATE INDEX ix_participation_worker ON participation (worker_id);
CREATE INDEX ix_worker_identity_worker ON worker_identity (worker_id);
CREATE INDEX ix_assignment_expiry ON assignment (expires_at) WHERE state = 'live';
CREATE UNIQUE INDEX uq_assignment_live ON assignment (worker_id, stage_id) WHERE state = 'live';
CREATE INDEX ix_event_kind ON event (kind, id);
CREATE INDEX ix_event_item ON event (item_id);
CREATE INDEX ix_event_worker ON event (worker_id);
CREATE INDEX ix_gold_stage ON gold (stage_id, position);
CREATE INDEX ix_item_source_source ON item_source (source_id);
CREATE INDEX ix_response_item ON response (item_id);
CREATE INDEX ix_response_worker ON response (worker_id, stage_id);
CREATE TRIGGER response_no_update BEFORE UPDATE ON response BEGIN SELECT RAISE(ABORT, 'response is append-only'); END;
CREATE TRIGGER response_no_delete BEFORE DELETE ON response BEGIN SELECT RAISE(ABORT, 'response is append-only'); END;
CREATE TRIGGER grade_no_update BEFORE UPDATE ON grade BEGIN SELECT RAISE(ABORT, 'grade is append-only'); END;
CREATE TRIGGER grade_no_delete BEFORE DELETE ON grade BEGIN SELECT RAISE(ABORT, 'grade is append-only'); END;
CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entry is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'entry is append-only'); END;
CREATE INDEX ix_verdict_worker ON verdict (worker_id);
CREATE INDEX ix_assignment_item ON assignment (item_id, worker_id);
CREATE INDEX ix_mturk_signature_at ON mturk_signature (at);
CREATE INDEX ix_mturk_hit_offered ON mturk_hit (type_id, expires_at) WHERE disposed_at IS NULL AND taken < most;
CREATE INDEX ix_mturk_hit_type ON mturk_hit (type_id, id);
CREATE INDEX ix_mturk_assignment_approve ON mturk_assignment (approve_at) WHERE state = 'submitted';
CREATE INDEX ix_mturk_assignment_deadline ON mturk_assignment (deadline) WHERE state = 'accepted';
CREATE INDEX ix_mturk_assignment_hit ON mturk_assignment (hit_id, id);
CREATE INDEX ix_mturk_assignment_worker ON mturk_assignment (worker_id, hit_id);
CREATE UNIQUE INDEX uq_mturk_assignment_held ON mturk_assignment (hit_id, worker_id) WHERE state NOT IN ('returned', 'abandoned');
CREATE INDEX ix_mturk_bonus_assignment ON mturk_bonus (assignment_id);
CREATE UNIQUE INDEX uq_mturk_qualification_of ON mturk_qualification (type_id, worker_id);
CREATE INDEX ix_mturk_qualification_request_of ON mturk_qualification_request (type_id, worker_id);
CREATE INDEX ix_mturk_notification_due ON mturk_notification (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX ix_invitation_address_invitation ON invitation_address (invitation_id);
CREATE INDEX ix_submission_worker ON submission (worker_id);
CREATE INDEX ix_submission_participant ON submission (participant);
CREATE INDEX ix_payment_payout ON payment (payout_id);
CREATE TRIGGER payout_no_delete BEFORE DELETE ON payout BEGIN SELECT RAISE(ABORT, 'payout is kept for good'); END;
CREATE TRIGGER payment_no_delete BEFORE DELETE ON payment BEGIN SELECT RAISE(ABORT, 'payment is kept for good'); END;
CREATE TRIGGER payment_no_change BEFORE UPDATE OF payout_id, worker_id, amount, up_to_entry ON payment BEGIN SELECT RAISE(ABORT, 'payment is kept for good'); END;
CREATE INDEX ix_item_state ON item (stage_id, state, released);
CREATE INDEX ix_item_confidence ON item (stage_id, confidence, "key");
CREATE INDEX ix_response_stage ON response (stage_id, id);
CREATE INDEX ix_entry_bonus ON entry (amount) WHERE kind = 'bonus';
CREATE INDEX ix_mturk_hit_review ON mturk_hit (id) WHERE policies IS NOT NULL AND reviewed_at IS NULL;
CREATE INDEX ix_mturk_review_action_hit ON mturk_review_action (hit_id);
COMMIT;
