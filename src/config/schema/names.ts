// Settings: the name server's own.
import { flag, integer, path, text } from '../spec.ts';

export const nameServerSettings = {
  scanNotActiveBrokerInterval: integer(5000, 'ms', 'Silent brokers are looked for this often', { min: 10 }),
  needWaitForService: flag(false, 'Right after the start, answer "not ready" instead of "no such topic"'),
  waitSecondsForService: integer(3, 's', 'How long "right after the start" is, unless a broker registers before', { max: 3600 }),
  orderMessageEnable: flag(false, 'Routes carry the order configuration of their topic'),
  returnOrderTopicConfigToBroker: flag(true, 'Brokers get the order configuration of all topics with each registration'),
  supportActingMaster: flag(false, 'Where a master is gone, present its lowest slave in its place to readers'),
  notifyMinBrokerIdChanged: flag(false, 'Tell the members of a broker name when their lowest id changes', 'later'),
  deleteTopicWithBrokerRegistration: flag(false, 'A registration removes the topics that it does not list'),
  enableAllTopicList: flag(true, 'Serve the list of all topics'),
  enableTopicList: flag(true, 'Serve the lists of topics by cluster and kind'),
  clusterTest: flag(false, 'Ask the name server of another environment for unknown topics', 'later'),
  productEnvName: text('center', 'Environment that clusterTest asks', { effect: 'later' }),
  kvConfigPath: path('', 'File of the key-value settings', { derived: 'storePathRootDir/namesrv/kvConfig.json' }),
  configStorePath: path('', 'File that changed settings of the name server are kept in', {
    derived: 'storePathRootDir/namesrv/namesrv.properties',
  }),
  configBlackList: text('configBlackList;brokerConfigPath;configStorePath;kvConfigPath', 'Settings that no command may change'),
  rocketmqHome: path('', "Folder of Apache's installation; only shown", { effect: 'accepted' }),
} as const;
