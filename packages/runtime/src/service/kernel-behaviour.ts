/** What a service takes from the kernel besides types: a service imports runtime, never the kernel's code. */
export {
  EpochGate,
  NO_EPOCH,
  StaleEpochError,
  auction,
  claim,
  compareEpochs,
  decodeNumbers,
  encodeNumbers,
  formatEpoch,
  readRecordText,
  ring,
} from "@keelson/kernel";
