// The frames that a broker sends to name servers: registration, the question whether one is needed, and the farewell.
import type { Settings } from '../../config/settings.ts';
import type { TopicConfig } from '../../core/topic-config.ts';
import { type DataVersion, encodeDataVersion } from '../../protocol/bodies/data-version.ts';
import { encodeCompressedRegistration, encodeRegistration, registrationCrc } from '../../protocol/bodies/register-broker.ts';
import { RequestCodes } from '../../protocol/codes.ts';
import { HeaderCodecs } from '../../protocol/frame.ts';
import { type ExtFields, encodeFrame } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';

const READ_WRITE = 6;

export class RegistrationFrames {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** @param whole only a whole table is sent in the compressed form. */
  registration(opaque: number, address: string, configs: readonly TopicConfig[], dataVersion: DataVersion, whole: boolean): Buffer {
    const { brokerPermission, brokerIP2, haListenPort, compressedRegister } = this.#settings;
    // A broker that may not be written to says so of every topic.
    const topics =
      brokerPermission === READ_WRITE ? configs : configs.map((config) => ({ ...config, perm: config.perm & brokerPermission }));
    const compressed = compressedRegister && whole;
    const registration = { dataVersion, topics, filterServers: [], queueMappings: new Map<string, unknown>() };
    const body = compressed ? encodeCompressedRegistration(registration) : encodeRegistration(registration);
    const ext = {
      ...this.#identity(address),
      haServerAddr: `${brokerIP2}:${haListenPort}`,
      enableActingMaster: false,
      compressed,
      bodyCrc32: registrationCrc(body),
    };
    return frame(RequestCodes.REGISTER_BROKER, opaque, ext, body);
  }

  question(opaque: number, address: string, dataVersion: DataVersion): Buffer {
    return frame(RequestCodes.QUERY_DATA_VERSION, opaque, this.#identity(address), encodeDataVersion(dataVersion));
  }

  farewell(opaque: number, address: string): Buffer {
    return frame(RequestCodes.UNREGISTER_BROKER, opaque, this.#identity(address));
  }

  #identity(brokerAddr: string): ExtFields {
    const { brokerName, brokerClusterName, brokerId } = this.#settings;
    return { brokerName, brokerAddr, clusterName: brokerClusterName, brokerId };
  }
}

function frame(code: number, opaque: number, ext: ExtFields, body?: Uint8Array): Buffer {
  return encodeFrame({ code, opaque, flag: 0, codec: HeaderCodecs.json, version: BROKER_VERSION, language: 'JAVA', ext, body });
}
