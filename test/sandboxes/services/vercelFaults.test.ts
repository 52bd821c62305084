import { vercelService } from "../../helpers/cloud/clouds.ts";
import { testCloudFaults } from "./faults.ts";

testCloudFaults(vercelService);
