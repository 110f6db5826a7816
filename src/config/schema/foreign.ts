// Settings that Apache's broker and name server know and RingMQ does not act by: names and Apache's defaults, one family a block.
import type { Effect } from '../spec.ts';

export interface ForeignFamily {
  readonly effect: Exclude<Effect, 'used'>;
  readonly meaning: string;
  /** `name=default` words; the kind of a value is read off its default. */
  readonly words: string;
}

export const foreignFamilies: readonly ForeignFamily[] = [
  {
    effect: 'later',
    meaning: 'POP consumption',
    words: `
      appendAckAsync=false appendCkAsync=false defaultMessageRequestMode=PULL defaultPopShareQueueNum=-1 enableBatchPush=false
      enableNotifyAfterPopOrderLockRelease=true enableNotifyBeforePopCalculateLag=true enablePopBatchAck=false
      enablePopBufferMerge=false enablePopLog=false enablePopMessageThreshold=false enablePopMetrics=true enableRetryTopicV2=false
      enableSkipLongAwaitingAck=false initPopOffsetByCheckMsgInMem=true loadBalancePollNameServerInterval=30000
      maxMessageFilterNumForNotification=64 maxPopPollingSize=100000 popCkMaxBufferSize=200000 popCkOffsetMaxQueueSize=20000
      popCkStayBufferTime=10000 popCkStayBufferTimeOut=3000 popConsumerFSServiceInit=true popConsumerKVServiceEnable=false
      popConsumerKVServiceInit=false popConsumerKVServiceLog=false popFromRetryProbability=20 popFromRetryProbabilityForPriority=0
      popInflightMessageThreshold=10000 popLongPollingForceNotifyInterval=800 popPollingMapExpireTimeSeconds=600
      popPollingMapSize=100000 popPollingSize=1024 popResponseReturnActualRetryTopic=false popReviveConcurrency=32
      popReviveMaxAttemptTimes=16 popReviveMaxReturnSizePerRead=16384 popReviveSkipIfGroupAbsent=true priorityOrderAsc=true
      retrieveMessageFromPopRetryTopicV1=true reviveAckWaitMs=180000 reviveInterval=1000 reviveMaxSlow=3 reviveQueueNum=8
      reviveScanTime=10000 skipWhenCKRePutReachMaxTimes=false useMessageFilterForNotification=true useSeparateRetryQueue=false
    `,
  },
  {
    effect: 'later',
    meaning: 'Lite topics',
    words: `
      enableLiteEventMode=true enableLitePopLog=false liteEventCheckInterval=10000 liteEventFullDispatchDelayTime=10000
      liteEventFullDispatchDelayTimeForWildcardGroup=10000 liteLagCountMetricsEnable=false liteLagLatencyCollectEnable=false
      liteLagLatencyMetricsEnable=false liteLagLatencyTopK=50 liteSubscriptionCheckInterval=120000
      liteSubscriptionCheckTimeoutMills=180000 liteTtlCheckInterval=120000 maxClientEventCount=100 maxLiteSubscriptionCount=100000
      minLiteTTl=900000
    `,
  },
  {
    effect: 'later',
    meaning: 'Light queues',
    words: `
      combineCQUseRocksdbForLmq=false enableLmq=false enableLmqQuota=false enableLmqStats=false enableMultiDispatch=false
      maxLmqConsumeQueueNum=20000
    `,
  },
  {
    effect: 'later',
    meaning: 'Key-value stores in place of the queue and index files',
    words: `
      bottomMostCompressionTypeForConsumeQueueStore=zstd cleanRocksDBDirtyCQIntervalMin=60 combineAssignOffsetCQType=default
      combineCQEnableCheckSelf=false combineCQLoadingCQTypes=default;defaultRocksDB combineCQMaxExtraSearchCommitLogFiles=3
      combineCQPreferCQType=default configManagerVersion=v1 enableRocksDBLog=false indexRocksDBEnable=false
      iteratorWhenUseRocksdbConsumeQueue=true maxRocksDBIndexQueryDays=7 memTableFlushIntervalMs=3600000
      realTimePersistRocksDBConfig=true rocksdbCQDoubleWriteEnable=false rocksdbCompressionType=lz4 rocksdbFlushWalFrequency=1024
      rocksdbWalFileRollingThreshold=1073741824 statRocksDBCQIntervalSec=10 timerRecallToTimeWheelEnable=true
      timerRecallToTimelineEnable=true timerRocksDBEnable=false timerRocksDBPrecisionMs=1000 timerRocksDBRollIntervalHours=1
      timerRocksDBRollMaxTps=8000.0 timerRocksDBRollRangeHours=2 timerRocksDBStopScan=false timerRocksDBTimeExpiredMaxTps=200000.0
      transRocksDBEnable=false transWriteOriginTransHalfEnable=true transactionCheckRocksdbCoreThreads=2
      transactionCheckRocksdbMaxThreads=5 transactionCheckRocksdbQueueCapacity=2000 useSeparateStorePathForRocksdbCQ=false
      useSingleRocksDBForAllConfigs=false
    `,
  },
  {
    effect: 'later',
    meaning: 'Compacted topics',
    words: `
      compactionCqMappedFileSize=10485760 compactionMappedFileSize=104857600 compactionScheduleInternal=900000 compactionThreadNum=6
      enableCompaction=true maxOffsetMapSize=104857600
    `,
  },
  {
    effect: 'later',
    meaning: 'Election of masters: controller, DLedger, several brokers in one process',
    words: `
      asyncLearner=false brokerElectionPriority=2147483647 brokerHeartbeatInterval=1000 brokerNotActiveTimeoutMillis=10000
      checkSyncStateSetPeriod=5000 cleanOfflineBrokerInterval=30000 controllerAddr= controllerDLegerGroup= controllerDLegerPeers=
      controllerDLegerSelfId= controllerHeartBeatTimeoutMills=10000 dLegerGroup= dLegerPeers= dLegerSelfId=
      enableControllerInNamesrv=false enableControllerMode=false enableDLegerCommitLog=false enableElectUncleanMaster=false
      enableRemoteEscape=false fetchControllerAddrByDnsLookup=false forwardTimeout=3000 haMaxTimeSlaveNotCatchup=15000
      isBrokerContainer=false isInBrokerContainer=false lockInStrictMode=false maxSlaveResendLength=268435456 preferredLeader=
      replicasPerDiskPartition=1 sendHeartbeatTimeoutMillis=1000 skipPreOnline=false storePathBrokerIdentity=
      storePathDLedgerCommitLog= storePathEpochFile= syncBrokerMemberGroupPeriod=1000 syncBrokerMetadataPeriod=5000
      syncControllerMetadataPeriod=10000 syncFromLastFile=false syncMasterFlushOffsetWhenStartup=false
    `,
  },
  {
    effect: 'later',
    meaning: 'Metrics',
    words: `
      enableConnectionMetrics=true enableLagAndDlqMetrics=true enableMessageStoreMetrics=true enableRemotingMetrics=true
      enableRequestMetrics=true enableStatsMetrics=true enableTransactionMetrics=true estimateAccumulation=true
      metricGrpcExporterIntervalInMills=60000 metricGrpcExporterTimeOutInMills=3000 metricLoggingExporterIntervalInMills=10000
      metricsExportBatchMaxDataPoints=1000 metricsExporterType=DISABLE metricsGrpcExporterHeader= metricsGrpcExporterTarget=
      metricsInDelta=false metricsLabel= metricsOtelCardinalityLimit=50000 metricsPromExporterHost= metricsPromExporterPort=5557
      timerCheckMetricsWhen=05 timerEnableCheckMetrics=true useStaticSubscription=false
    `,
  },
  {
    effect: 'later',
    meaning: 'Cold data control',
    words: `
      cgColdReadThreshold=3145728 coldCtrStrategyEnable=false coldDataFlowControlEnable=false coldDataScanEnable=false
      globalColdReadThreshold=104857600 timerColdDataCheckIntervalMs=60000 usePIDColdCtrStrategy=true
    `,
  },
  {
    effect: 'later',
    meaning: 'Access control and TLS',
    words: `
      aclEnable=false authConfigPath= authenticationEnabled=false authenticationMetadataProvider= authenticationProvider=
      authenticationStrategy= authenticationWhitelist= authorizationEnabled=false authorizationMetadataProvider= authorizationProvider=
      authorizationStrategy= authorizationWhitelist= initAuthenticationUser= innerClientAuthenticationCredentials=
      migrateAuthFromV1Enabled=false useTLS=false
    `,
  },
  {
    effect: 'later',
    meaning: 'Timed messages: options',
    words: `
      allowRecallWhenBrokerNotWriteable=true appendTopicForTimerDeleteKey=false timerCongestNumEachSlot=2147483647
      timerEnableDisruptor=false timerGetMessageThreadNum=3 timerMetricSmallThreshold=1000000 timerProgressLogIntervalMs=10000
      timerPutMessageThreadNum=3 timerReputServiceCorePoolSize=6 timerReputServiceMaxPoolSize=6 timerReputServiceQueueCapacity=10000
      timerSkipUnknownError=false timerStopDequeue=false timerStopEnqueue=false timerWarmEnable=false timerWheelSnapshotFlush=false
      timerWheelSnapshotIntervalMs=10000
    `,
  },
  {
    effect: 'later',
    meaning: 'Registration: options',
    words: `
      compatibleWithOldNameSrv=true enableSingleTopicRegister=false enableSplitMetadata=true enableSplitRegistration=false
      fetchNameSrvAddrByDnsLookup=false fetchNamesrvAddrByAddressServer=false fetchNamesrvAddrInterval=10000
      isScanAvailableNameSrv=true rmqAddressServerDomain= splitMetadataSize=2000 splitRegistrationSize=800
      updateNameServerAddrPeriod=120000
    `,
  },
  {
    effect: 'accepted',
    meaning: 'Thread pools and their queues: actors and rings take their place',
    words: `
      ackMessageThreadPoolNums=16 ackThreadPoolQueueCapacity=100000 adminBrokerThreadPoolNums=16
      adminBrokerThreadPoolQueueCapacity=10000 batchDispatchRequestThreadPoolNums=16
      clientCallbackExecutorThreads=2 clientManageThreadPoolNums=32 clientManagerThreadPoolQueueCapacity=1000000
      clientRequestThreadPoolNums=8 clientRequestThreadPoolQueueCapacity=50000 clientWorkerThreads=4 consumerManageThreadPoolNums=32
      consumerManagerThreadPoolQueueCapacity=1000000 defaultThreadPoolNums=16 defaultThreadPoolQueueCapacity=10000 dispatchCqThreads=10
      endTransactionPoolQueueCapacity=100000 endTransactionThreadPoolNums=12 heartbeatThreadPoolNums=2
      heartbeatThreadPoolQueueCapacity=50000 litePullMessageThreadPoolNums=20 litePullThreadPoolQueueCapacity=100000
      loadBalanceProcessorThreadPoolNums=32 loadBalanceThreadPoolQueueCapacity=100000
      processReplyMessageThreadPoolNums=20 pullMessageThreadPoolNums=20 pullThreadPoolQueueCapacity=100000
      putMessageFutureThreadPoolNums=2 putThreadPoolQueueCapacity=10000 queryMessageThreadPoolNums=10
      queryThreadPoolQueueCapacity=20000 recoverThreadPoolNums=32 replyThreadPoolQueueCapacity=10000 sendMessageThreadPoolNums=2
      serverCallbackExecutorThreads=0 serverSelectorThreads=3 serverWorkerThreads=8
      transientStorePoolSize=5 unRegisterBrokerQueueCapacity=3000 waitTimeMillsInAckQueue=3000 waitTimeMillsInAdminBrokerQueue=5000
      waitTimeMillsInHeartbeatQueue=31000 waitTimeMillsInLitePullQueue=5000 waitTimeMillsInPullQueue=5000
      waitTimeMillsInTransactionQueue=3000
    `,
  },
  {
    effect: 'accepted',
    meaning: "The network library of Apache's broker",
    words: `
      asyncSendEnable=true channelNotActiveInterval=60000 clientAsyncSemaphoreValue=65535 clientChannelMaxIdleTimeSeconds=120
      clientCloseSocketIfTimeout=true clientOnewaySemaphoreValue=65535 clientPooledByteBufAllocatorEnable=false
      clientSocketRcvBufSize=0 clientSocketSndBufSize=0 connectTimeoutMillis=3000 disableCallbackExecutor=false
      disableNettyWorkerGroup=false enableFastChannelEventProcess=false enableNetWorkFlowControl=false enableReconnectForGoAway=true
      enableShutdownGracefully=false maxReconnectIntervalTimeSeconds=60 serverAsyncSemaphoreValue=64 serverLoadBalancerEnable=true
      serverNettyWorkerGroupEnable=true serverOnewaySemaphoreValue=256 serverPooledByteBufAllocatorEnable=true serverSocketBacklog=1024
      serverSocketRcvBufSize=0 serverSocketSndBufSize=0 shutdownWaitTimeSeconds=30 socksProxyConfig={} useEpollNativeSelector=false
      writeBufferHighWaterMark=0 writeBufferLowWaterMark=0
    `,
  },
  {
    effect: 'accepted',
    meaning: 'Memory-mapped files, their locks and buffers: RingMQ writes with plain system calls',
    words: `
      cleanSwapedMapInterval=300000 commitCommitLogLeastPages=4 commitCommitLogThoroughInterval=200 commitIntervalCommitLog=200
      commitLogForceSwapMapInterval=43200000 commitLogRecoverMaxNum=10 commitLogSwapMapInterval=3600000
      commitLogSwapMapReserveFileNum=100 dataReadAheadEnable=true debugLockEnable=false destroyMapedFileIntervalForcibly=120000
      enableRunningFlagsInFlush=false fastFailIfNoBufferInStorePool=false flushLeastPagesWhenWarmMapedFile=4096 highSpeedMode=false
      logicQueueForceSwapMapInterval=43200000 logicQueueSwapMapInterval=3600000 logicQueueSwapMapReserveFileNum=20
      mappedFileSwapEnable=true maxAsyncPutMessageRequests=5000 putConsumeQueueDataByFileChannel=true putMessageTimeout=8000
      putMsgIndexHightWater=600000 redeleteHangedFileInterval=120000 sharedByteBufferNum=16 spinLockCollisionRetreatOptimalDegree=1000
      topicQueueLockNum=32 transferMsgByHeap=true transientStorePoolEnable=false useABSLock=false useReentrantLockWhenPutMessage=true
      wakeCommitWhenPutMessage=true wakeFlushWhenPutMessage=false warmMapedFileEnable=false writeWithoutMmap=false
    `,
  },
  {
    effect: 'accepted',
    meaning: 'How the store follows its own log, recovers and cleans up',
    words: `
      checkCommitLogOffsetOnRecover=false correctLogicMinOffsetForceInterval=300000 correctLogicMinOffsetSleepInterval=1
      disappearTimeAfterStart=-1 dispatchCqCacheNum=4096 dispatchFromSenderThread=false enableAcceleratedRecovery=false
      enableAsyncReput=true enableBuildConsumeQueueConcurrently=false enableCleanExpiredOffset=false
      enableLogConsumeQueueRepeatedlyBuildWhenRecover=false enableScheduleAsyncDeliver=false haFlowControlEnable=false
      indexFileReadEnable=true indexFileWriteEnable=true isolateLogEnable=false logicalDiskSpaceCleanForciblyThreshold=0.8
      maxBatchDeleteFilesNum=50 maxChecksumRange=1073741824 maxConsumeQueueScan=20000 maxHaTransferByteInSecond=104857600
      maxRecoveryCommitlogFiles=30 readOnlyCommitLogStorePaths= readUnCommitted=false recheckReputOffsetFromCq=false
      recoverConcurrently=false scheduleAsyncDeliverMaxPendingLimit=2000 scheduleAsyncDeliverMaxResendNum2Blocked=3
      searchBcqByCacheEnable=true
    `,
  },
  {
    effect: 'accepted',
    meaning: "Written in many example files, without effect in Apache's broker too",
    words: `
      abortFile= commercialBaseCount=1 commercialSizePerMsg=4096 filterServerNums=0 messageStorePlugIn= storeCheckpoint=
      storePathConsumeQueue= storePathIndex=
    `,
  },
  {
    effect: 'accepted',
    meaning: 'Filter bitmaps',
    words: `
      enableCalcFilterBitMap=false expectConsumerNumUseFilter=32 filterDataCleanTimeSpan=86400000 maxErrorRateOfBloomFilter=20
    `,
  },
  {
    effect: 'accepted',
    meaning: 'Statistics in log files, and how often data versions are raised',
    words: `
      accountStatsEnable=true accountStatsPrintZeroValues=true autoDeleteUnusedStats=true consumerFallbehindThreshold=17179869184
      consumerOffsetUpdateVersionStep=500 delayOffsetUpdateVersionStep=200 diskFallRecorded=true
      enableScheduleMessageStats=true flushConsumerOffsetHistoryInterval=60000 maxStatsIdleTimeInMinutes=-1
      persistConsumerOffsetIncrementally=false printChannelGroups=false printChannelGroupsMinNum=5 sampleCountThreshold=5000
      sampleSteps=32 transactionMetricFlushInterval=10000
    `,
  },
  {
    effect: 'later',
    meaning: 'Other features of newer brokers',
    words: `
      accessMessageInMemoryHotRatio=26 broadcastOffsetExpireMaxSecond=300 broadcastOffsetExpireSecond=120 brokerConfigPath=
      disableConsumeIfConsumerReadSlowly=false maxTopicLength=127 pullBatchMaxMessageCount=160
    `,
  },
];
